import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkSchema } from '../../host/manifest/checks/check-schema.ts'

const setting = (more: object) => ({
  configurations: { account: { properties: { a: { type: 'string', ...more } } } },
})
const button = (text: string) => setting({ type: 'button', button_text: text, callback_url: '/oauth' })

/** Each text of a manifest that people read. */
const fields: Record<string, (text: string) => object> = {
  'the title': (title) => ({ title }),
  'the description': (description) => ({ description }),
  'the summary': (summary) => ({ summary }),
  'the label of a link': (label) => ({ externalLinks: [{ label, url: 'https://a.example' }] }),
  'the title of a block': (title) => ({ blocks: [{ id: 'a', title }] }),
  'the description of a block': (description) => ({ blocks: [{ id: 'a', title: 'A', description }] }),
  'the title of a content source': (title) => ({
    contentSources: [{ id: 'a', title, configuration: { componentId: 'a' } }],
  }),
  'the title of a setting': (title) => setting({ title }),
  'the description of a setting': (description) => setting({ description }),
  'the title of a number': (title) => setting({ type: 'number', title }),
  'the title of a switch': (title) => setting({ type: 'boolean', title }),
  'the text of a button': button,
  'a choice': (choice) => setting({ enum: [choice] }),
}

const manifest = {
  ...{ name: 'a', title: 'A', description: 'A', organization: 'home' },
  ...{ visibility: 'private', scopes: [] },
}
const messagesOf = (more: object) => checkSchema({ ...manifest, ...more }).map(({ message }) => message)

const blank: Record<string, string> = {
  'a blank': ' ',
  blanks: '   ',
  'a tab and a line break': '\t\n',
  'a no-break space': '\u00a0',
  'an ideographic space': '\u3000',
  'an em space': '\u2003',
  'a zero-width space': '\u200b',
  'a zero-width joiner': '\u200d',
  'zero-width non-joiners': '\u200c\u200c',
  'a byte order mark': '\ufeff',
  'a word joiner': '\u2060',
  'a soft hyphen': '\u00ad',
  'marks of direction': '\u200e\u200f\u061c',
  'an override of direction': '\u202e',
  'isolates of direction': '\u2066\u2069',
  'a Hangul filler': '\u3164',
  'a half-width Hangul filler': '\uffa0',
  'an empty Braille pattern': '\u2800',
  'a variation selector': '\ufe0f',
  'a combining mark alone': '\u0301',
  'a tag': '\u{e0041}',
  'a grapheme joiner': '\u034f',
  'a Mongolian vowel separator': '\u180e',
  'a control character': '\u0007',
}
const hidden: Record<string, string> = {
  'an override of direction': 'abc\u202ecba',
  'an embedding of direction': '\u202aabc\u202c',
  'an isolate': '\u2067abc\u2069',
  'a zero-width space': 'We\u200bbhook',
  'a byte order mark': '\ufeffWebhook',
  'a word joiner': 'Web\u2060hook',
  tags: 'Webhook\u{e0041}\u{e0042}',
  'a control character': 'Web\u0008hook',
  'an escape sequence': '\u001b[31mWebhook',
  'a C1 control character': 'Web\u009bhook',
  'a NUL': 'Web\0hook',
  'a line separator': 'Web\u2028hook',
  'a lone surrogate': 'Web\ud800hook',
}
const readable = [
  'Webhook',
  'Ünïcode – “quoted” & more…',
  'تقرير',
  'دفترچه\u200cها',
  'क्\u200dष',
  'שלום \u200e(abc)\u200e',
  '分析',
  '한국어',
  '👩\u200d💻 Team',
  '❤\ufe0f',
  '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} Scotland',
  'Donau\u00addampf',
  'two\nlines\tand a tab',
  '5',
  '?',
  '€',
  'e\u0301',
]

describe('a text that people read', () => {
  for (const [field, toManifest] of Object.entries(fields)) {
    it(`must show something: ${field}`, () => {
      for (const [what, text] of Object.entries(blank)) {
        const messages = messagesOf(toManifest(text))
        assert.match(messages.join(), /^[^,]* has no visible character$/, `${what}: ${messages}`)
      }
    })

    it(`may hide nothing: ${field}`, () => {
      for (const [what, text] of Object.entries(hidden)) {
        const messages = messagesOf(toManifest(text))
        assert.match(messages.join(), / has a character that is not visible: \\/, `${what}: ${messages}`)
      }
    })

    it(`may be in any language: ${field}`, () => {
      for (const text of readable) assert.deepEqual(messagesOf(toManifest(text)), [], text)
    })
  }
})
