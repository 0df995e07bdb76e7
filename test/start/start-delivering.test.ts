import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** All that is loaded with a module, in a process of its own: this one has loaded more. */
function loadedWith(module: string): string[] {
  const program = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
    await import(${JSON.stringify(`${root}${module}`)})
    console.log(JSON.stringify(urls))`
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  return JSON.parse(said)
}

it('what delivers is loaded without what only scripts and visitors need', () => {
  const later = ['/host/app.ts', '/host/sandbox/sandboxes.ts', '/koa/', '/esbuild/', '/jose/']
  const loaded = loadedWith('host/server.ts')
  assert.ok(loaded.some((url) => url.endsWith('/host/webhooks/run-delivery.ts')))
  assert.deepEqual(
    loaded.filter((url) => later.some((part) => url.includes(part))),
    [],
  )
  // They are found where they are needed.
  const all = loadedWith('host/start/start-answering.ts')
  for (const part of ['/host/app.ts', '/koa/'])
    assert.ok(
      all.some((url) => url.includes(part)),
      part,
    )
})
