import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startAnnex } from '../support/annex.ts'
import { writeHostileFolders } from './hostile-folders.ts'

test('requests are answered while hostile folders are read', async () => {
  const annex = await startAnnex()
  try {
    writeHostileFolders(annex.pluginsDir, 9)
    let isDone = false
    const began = performance.now()
    const reload = annex.api('POST', '/v1/reload').finally(() => {
      isDone = true
    })
    let longestMs = 0
    while (!isDone) {
      const asked = performance.now()
      assert.equal((await fetch(`${annex.url}/healthz`)).status, 200)
      longestMs = Math.max(longestMs, performance.now() - asked)
      await sleep(50)
    }
    const tookMs = performance.now() - began
    const { json } = await reload
    assert.equal(json.items.length, 9)
    // A share, as a machine may be busy: in the host's own thread one request waits for nearly all of it.
    assert.ok(longestMs < tookMs / 3, `/healthz waited ${longestMs} ms of ${tookMs} ms`)
  } finally {
    await annex.close()
  }
})
