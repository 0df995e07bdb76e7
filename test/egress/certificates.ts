import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Certificate = { key: string; cert: string }

/**
 * An authority of the test's own and certificates that it signs, made with the `openssl` program. `dates` as
 * openssl takes them: `20200101000000Z`.
 */
export function openAuthority(after: (clean: () => void) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-certificates-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  }
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const selfSigned = (name: string, subject: string): void =>
    openssl(
      'req',
      '-x509',
      ...keyOptions,
      '-days',
      '2',
      '-subj',
      subject,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    )
  selfSigned('authority', '/CN=Annex tests')
  writeFileSync(join(folder, 'index.txt'), '')
  writeFileSync(join(folder, 'serial'), '01')
  writeFileSync(join(folder, 'ca.cnf'), settings)

  function sign(host: string, dates: { from?: string; to?: string } = {}): Certificate {
    const { from = '20200101000000Z', to = '20990101000000Z' } = dates
    writeFileSync(join(folder, 'names.cnf'), `subjectAltName=DNS:${host}\n`)
    openssl('req', ...keyOptions, '-subj', `/CN=${host}`, '-keyout', 'leaf.key', '-out', 'leaf.csr')
    openssl(
      'ca',
      '-batch',
      '-notext',
      '-config',
      'ca.cnf',
      '-extfile',
      'names.cnf',
      '-startdate',
      from,
      '-enddate',
      to,
      '-in',
      'leaf.csr',
      '-out',
      'leaf.pem',
    )
    return { key: read('leaf.key'), cert: read('leaf.pem') }
  }

  function selfSign(host: string): Certificate {
    selfSigned('self', `/CN=${host}`)
    return { key: read('self.key'), cert: read('self.pem') }
  }

  return { authority: read('authority.pem'), sign, selfSign }
}

const settings = `
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
certificate = authority.pem
private_key = authority.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
`
