import type { Annex, Json } from '../support/annex.ts'
import { installIn } from '../support/installing.ts'
import type { PluginSource } from '../support/plugin-folder.ts'

const script = `import { createComponent, createIntegration } from '@annex/runtime'

type Props = { url?: string; text?: string }
type Action = { action: '@link.unfurl'; url: string }

const clip = createComponent<Props, object, Action>({
  componentId: 'clip',
  action: async (element, { action, url }) => {
    if (action !== '@link.unfurl') return element
    if (url.includes('broken')) throw new Error('The clip is gone.')
    return url.includes('nothing') ? element : { props: { url } }
  },
  render: async ({ props }) => <block><text>{'Clip of ' + (props.url ?? 'nothing')}</text></block>,
})
const chart = createComponent<Props, object, { action: 'longer' }>({
  componentId: 'chart',
  action: async ({ props }) => ({ props: { text: props.text + ' and more' } }),
  render: async ({ props, context }) => (
    <block>
      <text>{'Chart of ' + (props.text ?? '').trim().split('\\n').length + ' lines'}</text>
      {context.editable && <button label="Longer" onPress={{ action: '@editor.node.updateProps', props: { text: props.text + '\\nc: 3' } }} />}
    </block>
  ),
})
const failing = createComponent({
  componentId: 'failing',
  render: async () => { throw new Error('No answer of the provider.') },
})
const slow = createComponent({
  componentId: 'slow',
  render: async () => {
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    return <block><text>At last</text></block>
  },
})

export default createIntegration({ components: [clip, chart, failing, slow] })
`

const blocks = `blocks:
  - { id: clip, title: Clip, description: A film of some seconds, urlUnfurl: ['https://clips.example/**'] }
  - { id: chart, title: Chart, description: Numbers as lines, markdown: { codeblock: chart, body: text } }
  - { id: failing, title: Failing }
  - { id: slow, title: Slow }`

/** An integration with blocks of each kind. */
export const clips: PluginSource = {
  more: `script: ./index.tsx\n${blocks}`,
  files: { 'index.tsx': script },
}

export const manual = `# Start here

See [how to install](install.md), [another site](https://example.com/) and [nothing](gone.md).

## A film

{% @clips/clip url="https://clips.example/1" %}

\`\`\`chart
a: 1
b: 2
\`\`\`

\`\`\`js
const a = '<b>'
\`\`\`

| a | b |
|---|---|
| 1 | 2 |
`

/** A space with pages and with the blocks of \`clips\`. @returns its slug */
export async function makeManual(annex: Annex, pages: Record<string, object>): Promise<string> {
  const made = await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'manual', title: 'Manual' })
  const { path } = await installIn(annex, 'clips', 'home')
  const installed = await annex.api('POST', `${path}/spaces`, { space: made.json.id })
  if (installed.status !== 201) throw new Error(installed.text)
  for (const [page, body] of Object.entries(pages)) await putPage(annex, page, body)
  return 'manual'
}

export async function putPage(annex: Annex, page: string, body: object): Promise<Json> {
  const path = `/v1/spaces/manual/content/page/${encodeURIComponent(page)}`
  const { status, text, json } = await annex.api('PUT', path, body)
  if (status > 201) throw new Error(text)
  return json
}
