import assert from 'node:assert/strict'

/** Fails when a terminal would act on a text, or show another one than is there. Line breaks are allowed. */
export function assertHarmless(text: string): void {
  for (const [index, char] of [...text].entries()) {
    const code = char.codePointAt(0) ?? 0
    const isControl = (code < 0x20 && char !== '\n') || (code >= 0x7f && code <= 0x9f)
    const isHidden = code >= 0x2028 && code <= 0x202e
    assert.ok(!isControl && !isHidden, `U+${code.toString(16)} at ${index} of ${JSON.stringify(text)}`)
  }
}
