/**
 * What a script asks of its process at once (URLs, random bytes, the clock) runs on the script's own stack, in the
 * process that holds other installations. Whatever the script does there, it gets an answer or an error of its own.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answerAsk } from '../../runtime/process/ask.ts'
import { createPlatform, modes, run } from './guest.ts'

const platform = await createPlatform()

for (const mode of modes) {
  describe(`a call into the process, from ${mode}`, () => {
    test('shows nothing of the process at the end of the stack, and works again above it', async () => {
      const seen = (await run(
        platform,
        mode,
        `const texts = []
        const asks = [
          () => new URL('https://xn--bcher-kva.example/'),
          () => { const u = new URL('http://a'); u.host = 'ü.example' },
          () => crypto.getRandomValues(new Uint8Array(9)),
          () => new TextDecoder('big5').decode(new Uint8Array([0xa4, 0xa4])),
          () => performance.now(),
        ]
        let deepest = 0
        const sink = (depth) => {
          try { sink(depth + 1) } catch {}
          if (deepest === 0) deepest = depth
          if (deepest - depth > 60) return
          for (const ask of asks) try { ask() } catch (error) { try { texts.push(String(error.stack)) } catch {} }
        }
        sink(0)
        return [texts.join('\\n'), new URL('https://bücher.example').host]`,
      )) as [string, string]
      assert.doesNotMatch(seen[0], /file:|node:|\/runtime\/process|isolated-vm/)
      assert.equal(seen[1], 'xn--bcher-kva.example')
    })

    test('cannot exceed the longest URL', async () => {
      const body = `const long = 'http://a/' + 'x'.repeat(1_100_000); const u = new URL('http://a/b')
        u.pathname = long; u.host = long
        return [URL.canParse(long), URL.canParse('x', long), u.href]`
      assert.deepEqual(await run(platform, mode, body), [false, false, 'http://a/b'])
    })

    test('still works after a script patched the built-ins of URL', async () => {
      const body = `String.prototype.indexOf = String.prototype.slice = () => { throw new Error('patched') }
        try { new URL('http://a/b').host } catch (e) { if (e.message !== 'patched') throw e }
        return new URL('http://a/c').href`
      assert.equal(await run(platform, mode, body), 'http://a/c')
    })
  })
}

describe('the process', () => {
  test('answers unknown calls and values other than text with nothing', () => {
    assert.deepEqual(
      [
        answerAsk('url', { toString: () => 'http://a' }),
        answerAsk('url', 'x', 7),
        answerAsk('url-href', 'http://a', 'http://b'),
        answerAsk('constructor', 'http://a', 'b'),
        answerAsk(undefined, undefined),
        answerAsk('url-host', 'nope', 'b'),
      ],
      Array(6).fill(''),
    )
    assert.equal((answerAsk('random', 1e9) as ArrayBuffer).byteLength, 0)
  })

  test('spends bounded time on the worst hosts', () => {
    const han = Array.from({ length: 16_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
    )
    const hosts = [
      han.join(''),
      han.slice(0, 5_000).join(''),
      han.slice(0, 600).join(''),
      `xn--${'zca'.repeat(5_000)}`,
      'ü.'.repeat(7_000),
      `a${'\u0300\u0316'.repeat(5_000)}`,
      '%C3%BC'.repeat(5_000),
    ]
    for (const host of hosts) {
      const start = performance.now()
      answerAsk('url', `http://${host}/`)
      const took = performance.now() - start
      assert.ok(took < 20_000, `${host.slice(0, 10)}… took ${took} ms`)
    }
  })
})
