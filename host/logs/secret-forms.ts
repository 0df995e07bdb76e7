/** Shorter ones are not looked for: they would stand in ordinary words and numbers, and garble every line. */
export const shortestSecret = 8
/** A line of a secret that has several, such as a private key in PEM, counts by itself. */
const shortestLine = 16

/** A secret as it may stand in a text: as it is, and as JSON, URLs, base64 and hex write it. */
export function formsOf(secret: string): string[] {
  const forms = new Set<string>([secret, JSON.stringify(secret).slice(1, -1)])
  const inUrl = encodeURIComponent(secret.toWellFormed())
  forms.add(inUrl)
  forms.add(inUrl.replaceAll('%20', '+'))
  for (const text of inBase64(Buffer.from(secret))) {
    forms.add(text)
    forms.add(text.replaceAll('+', '-').replaceAll('/', '_'))
  }
  forms.add(Buffer.from(secret).toString('hex'))
  for (const line of secret.includes('\n') ? secret.split('\n') : []) {
    // The frame of a PEM is no secret.
    if (line.trim().length >= shortestLine && !line.startsWith('-----')) forms.add(line.trim())
  }
  return [...forms].filter((form) => form.length >= shortestSecret)
}

/**
 * The base64 of the bytes within the base64 of something longer, such as `user:secret`: three texts, by how many bytes
 * stand before it. What depends on the bytes before and after is left out at both ends.
 */
function inBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const length = before + bytes.length
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.slice(before === 0 ? 0 : before + 1, Math.floor((length * 8) / 6))
  })
}
