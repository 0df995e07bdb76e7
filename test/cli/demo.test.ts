import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { bin, cleanEnvironment, makeFolder, runProcess } from './support/run-annex.ts'

test('the demo delivers on the third attempt, prints each step in order, and removes its files', async (context) => {
  const folder = await makeFolder(context)
  const { code, stdout, stderr } = await runProcess(['demo'], { env: { TMPDIR: folder } })
  assert.equal(code, 0, stdout + stderr)
  const told = ['Start', 'Install', 'Publish', '--> site_view', '<-- 503', '<-- 429', '<-- 200', 'Delivered']
  const positions = told.map((text) => stdout.indexOf(text))
  assert.ok(!positions.includes(-1), stdout)
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  )
  assert.equal(stdout.match(/signature verified, answered/g)?.length, 3)
  assert.deepEqual(await readdir(folder), [])
})

test('an interrupted demo removes its files', async (context) => {
  const folder = await makeFolder(context)
  const child = spawn(process.execPath, [bin, 'demo'], {
    cwd: folder,
    env: { ...cleanEnvironment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('<-- 503')) child.kill('SIGINT')
  }
  assert.deepEqual(await ended, [130, null])
  assert.deepEqual(await readdir(folder), [])
})
