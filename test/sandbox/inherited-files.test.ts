import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const start = fileURLToPath(new URL('../../host/sandbox/process/start-process.ts', import.meta.url))

/** Runs as Annex under a supervisor, and lists the open files of a sandbox process that it starts. */
const host = `
import { readdirSync, readlinkSync } from 'node:fs'
import { startProcess } from ${JSON.stringify(start)}
const started = startProcess(() => {}, { enclosure: [], program: ['-e', 'setTimeout(() => {}, 5000)'] })
await new Promise((resolve) => setTimeout(resolve, 300))
console.log(JSON.stringify([process.pid, started.pid].map((pid) => readdirSync('/proc/' + pid + '/fd').flatMap((fd) => {
  try { return readlinkSync('/proc/' + pid + '/fd/' + fd) } catch { return [] }
}))))
started.kill()
process.exit()
`

test('a sandbox process inherits no file of its supervisor', (context) => {
  if (process.platform !== 'linux') return context.skip('there is no /proc')
  const secret = fileURLToPath(import.meta.url)
  const fd = openSync(secret, 'r')
  try {
    // Numbers beyond 15, with gaps before them: Node closes the others itself.
    const stdio = Array.from({ length: 61 }, (_, n) =>
      n === 1 ? 'pipe' : n === 40 || n === 60 ? fd : 'ignore',
    )
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', host], {
      stdio: stdio as ('pipe' | 'ignore' | number)[],
      encoding: 'utf8',
    })
    const [annex, sandbox] = JSON.parse(stdout) as string[][]
    assert.equal(annex?.filter((path) => path === secret).length, 2)
    assert.deepEqual(
      sandbox?.filter((path) => path === secret),
      [],
    )
  } finally {
    closeSync(fd)
  }
})
