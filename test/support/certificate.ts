import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Why a test with a certificate is left out, or false. With ANNEX_CI=1 a missing openssl is an error. */
export function skipWithoutOpenssl(): string | false {
  if (spawnSync('openssl', ['version']).status === 0) return false
  const text = 'openssl is not installed (Debian: apt-get install openssl)'
  if (process.env.ANNEX_CI === '1') throw new Error(`${text}, and ANNEX_CI=1 asks for it.`)
  return text
}

/** Writes `cert.pem` and `key.pem` of a host. No authority has signed it. */
export function makeCertificate(folder: string, host: string): void {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...key, '-days', '2', ...files, ...subject], { stdio: 'ignore' })
}
