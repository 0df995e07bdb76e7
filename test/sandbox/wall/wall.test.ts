import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { buildProcessCode, type ProcessCode } from '../../../host/bundle/build-runtime.ts'
import { startProcess } from '../../../host/sandbox/process/start-process.ts'
import { findEnclosure } from '../../../host/sandbox/wall/find-enclosure.ts'
import { hasLevel, levelOf, type Wall } from '../../../host/sandbox/wall/levels.ts'
import { reachWall, tryWall } from '../../../host/sandbox/wall/reach-wall.ts'
import { createFrameReader, createFrameWriter } from '../../../runtime/process/frame.ts'
import { toProcess } from '../../../runtime/process/messages.ts'

let code: ProcessCode
before(async () => {
  code = await buildProcessCode()
})

const enclosure = await findEnclosure()
const skip = 'command' in enclosure ? false : `no namespaces here: ${enclosure.reason}`
const command = 'command' in enclosure ? enclosure.command : []

const folder = mkdtempSync(join(tmpdir(), 'annex-wall-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs while the first `unshare` of the PATH is this shell script. */
async function withUnshare<T>(script: string, run: () => Promise<T>): Promise<T> {
  const { PATH } = process.env
  writeFileSync(join(folder, 'unshare'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  process.env.PATH = `${folder}:${PATH}`
  try {
    return await run()
  } finally {
    process.env.PATH = PATH
  }
}

const refusing = 'echo "unshare: unshare failed: Operation not permitted" >&2; exit 1'

function assertWall(found: Awaited<ReturnType<typeof tryWall>>): asserts found is Wall {
  assert.ok(!('how' in found), JSON.stringify(found))
}

describe('the wall, tried by a sandbox process', () => {
  it('holds against files, network, programs, threads and the environment, with each attempt reported', async () => {
    const wall = await tryWall(code.probe)
    assertWall(wall)
    for (const { what, held, saw } of wall.attempts) assert.ok(held, `${what}: ${saw}`)
    assert.equal(wall.attempts.length, 8)
    for (const name of ['isolate', 'process', 'watchdog', 'heartbeat'] as const) {
      assert.ok(hasLevel(wall, name), name)
    }
    assert.equal(hasLevel(wall, 'namespace'), !skip, String(levelOf(wall, 'namespace')?.shown))
  })

  it('works without namespaces if the system refuses them, with the reason and the fix', async () => {
    const wall = await withUnshare(refusing, () => tryWall(code.probe))
    assertWall(wall)
    assert.deepEqual(wall.enclosure, [])
    const level = levelOf(wall, 'namespace')
    assert.equal(level?.reached, false)
    assert.match(level.shown, /Operation not permitted/)
    assert.match(level.fix ?? '', /sysctl|seccomp/)
    assert.ok(hasLevel(wall, 'process'))
  })

  it('works without namespaces if no sandbox process starts in them', async () => {
    const onlyVersions =
      'for last; do :; done; [ "$last" = --version ] && exit 0; echo "no entry" >&2; exit 1'
    const wall = await withUnshare(onlyVersions, () => tryWall(code.probe))
    assertWall(wall)
    assert.deepEqual(wall.enclosure, [])
    assert.match(levelOf(wall, 'namespace')?.shown ?? '', /no entry/)
  })

  it('does not count a program that only claims to make namespaces', async () => {
    const wall = await withUnshare('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', () =>
      tryWall(code.probe),
    )
    assertWall(wall)
    assert.equal(hasLevel(wall, 'namespace'), false)
  })

  it('stops the start of Annex if a required level is not reached', async () => {
    await withUnshare(refusing, async () => {
      await assert.rejects(reachWall(code.probe, ['namespace']), {
        code: 'sandbox_unavailable',
        message: /SANDBOX_REQUIRE[\s\S]*namespace: .*Operation not permitted/,
      })
      assertWall(await reachWall(code.probe, ['watchdog']))
    })
  })
})

describe('a sandbox process in its own namespaces', { skip }, () => {
  it('cannot reach the network even without Node’s limits', async (context) => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    context.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const script = `require('net').connect(${port}, '127.0.0.1').on('connect', () => console.log('connected')).on('error', (e) => console.log(e.code))`
    const [program = '', ...args] = command
    const { stdout } = spawnSync(program, [...args, process.execPath, '-e', script], { encoding: 'utf8' })
    assert.match(stdout, /^(?:ENETUNREACH|EADDRNOTAVAIL)\n$/)
  })

  it('has no rights, its own session and no terminal, and ends at SIGKILL', async () => {
    const said: string[] = []
    const started = startProcess((text) => said.push(text), { enclosure: command, code: code.main })
    const { promise: pong, resolve } = Promise.withResolvers<void>()
    started.stream.on(
      'data',
      createFrameReader(1e6, () => resolve()),
    )
    const writer = createFrameWriter((bytes) => started.stream.write(bytes))
    writer.write({ type: toProcess.ping })
    writer.flush()
    await pong
    const status = readFileSync(`/proc/${started.pid}/status`, 'utf8')
    assert.match(status, /^Name:\t(?:node|MainThread)/m)
    if (command.includes('--map-user=65534')) assert.match(status, /^CapEff:\t0+$/m)
    const [, , , session, terminal] = afterName(readFileSync(`/proc/${started.pid}/stat`, 'utf8'))
    assert.deepEqual([session, terminal], [String(started.pid), '0'])
    assert.equal(started.readBlackBox().sandbox, 0)
    assert.ok(started.residentBytes() > 20e6)
    started.kill()
    assert.equal(await started.exited, 'SIGKILL')
    started.close()
    assert.deepEqual(said, [])
  })
})

/** Of a process, what the kernel says after its name: state, parent, group, session, terminal, … */
const afterName = (stat: string): string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ')
