import { createComponent, createIntegration, type RuntimeContext } from '@annex/runtime'
import { framePage } from './frame.ts'

type State = {
  name: string
  code: string
  city: string
  pressed: number
  step: string
  answer?: string
}
type Action = { action: string; [field: string]: unknown }

const picture = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="90"><rect width="160" height="90" fill="#4338ca"/><circle cx="80" cy="45" r="24" fill="#fff"/></svg>',
)}`

const ask = { title: 'Press it?', text: 'The script counts it.', confirm: 'Press', style: 'primary' } as const

/** Each element of `runtime/sdk/ui/elements.ts`, most of them once. */
const elements = createComponent<object, State, Action>({
  componentId: 'elements',
  initialState: { name: 'Ada', code: 'graph LR\n  A --> B', city: 'lyon', pressed: 0, step: 'first' },

  async action({ state }, action, { api, environment: { integration, installation } }) {
    switch (action.action) {
      case 'save':
        if (installation !== undefined) {
          const configuration = { name: state.name }
          await api.integrations.updateIntegrationInstallation(integration.name, installation.id, { configuration })
        }
        return { state: { ...state, answer: 'saved' } }
      case 'press':
        return { state: { ...state, pressed: state.pressed + 1 } }
      case 'step':
        return { state: { ...state, step: String(action.step) } }
      case '@ui.modal.close':
        return { state: { ...state, answer: JSON.stringify(action.returnValue) } }
      default:
        return { state: { ...state, answer: action.action } }
    }
  },

  render({ state, dynamicState }, { environment }) {
    const { publicEndpoint } = environment.integration.urls
    return (
      <block controls={[{ label: 'Open the docs', icon: 'link', onPress: { action: '@ui.url.open', url: 'https://example.com/docs' } }]}>
        <markdown content={`## Texts\n\nOf **${state.name}**, drawn by the host.`} />
        <vstack align="start">
          <text>
            Plain, <text style="bold">bold</text>, <text style="italic">italic</text>, <text style="code">code</text>,{' '}
            <text style="strikethrough">gone</text> and <link target={{ url: 'https://example.com' }}>a link</link>
          </text>
          <hint style="info">
            <text>Pressed {state.pressed} times{state.answer === undefined ? '' : `, the last answer is ${state.answer}`}</text>
          </hint>
        </vstack>
        <divider size="small" style="line" />
        <hstack align="center">
          <box grow={1} style="card">
            <image source={{ url: picture }} aspectRatio={16 / 9} />
          </box>
          <spacer />
          <box grow={1} style="secondary">
            <card title="A card" hint="Its title can be pressed" icon="chart" onPress={{ action: 'press' }} buttons={[<button label="Inside" onPress={{ action: 'press' }} />]}>
              <text>With content</text>
            </card>
          </box>
        </hstack>
        <configuration>
          <input label="Name" hint="It is above, too, once it is sent" element={<textinput state="name" placeholder="Ada" />} />
          <input label="Notes" element={<textinput state="notes" multiline initialValue="Two lines" />} />
          <input
            label="City"
            element={<select state="city" options={[{ id: 'lyon', label: 'Lyon' }, { id: 'oslo', label: 'Oslo' }]} onValueChange={{ action: 'chosen' }} />}
          />
          <input label="Region" hint="The script answers these" element={<select state="region" options={{ url: `${publicEndpoint}/regions` }} />} />
          <input label="Days" element={<select state="days" multiple initialValue={['mon']} options={[{ id: 'mon', label: 'Monday' }, { id: 'tue', label: 'Tuesday' }]} />} />
          <switch state="on" label="A switch" initialValue={true} />
          <checkbox state="sure" value="sure" label="A box" />
          <radio state="size" value="small" label="Small" initialValue="small" />
          <radio state="size" value="large" label="Large" />
          <hstack>
            <button style="primary" label="Save" onPress={{ action: 'save' }} />
            <button label="Press" icon="check" tooltip="The script counts it" onPress={{ action: 'press' }} />
            <button style="danger" label="Ask first" confirm={ask} onPress={{ action: 'press' }} />
            <button label="Open a modal" trailingIcon="arrow-right" onPress={{ action: '@ui.modal.open', componentId: 'question', props: { name: dynamicState('name') } }} />
          </hstack>
        </configuration>
        <codeblock
          state="code"
          content={dynamicState('code')}
          syntax="mermaid"
          onContentChange={{ action: '@editor.node.updateProps', props: { code: dynamicState('code') } }}
          footer={<text>It is sent once you pause.</text>}
        />
        <codeblock content={'const one = 1\nconst two = 2'} syntax="typescript" lineNumbers />
        <stepper activeStep={state.step} onStepChange={{ action: 'step' }} onComplete={{ action: 'finished' }}>
          <step id="first" title="First" next>
            <text>A step of two</text>
          </step>
          <step id="second" title="Second">
            <text>The last one</text>
          </step>
        </stepper>
        <webframe source={{ url: `${publicEndpoint}/frame` }} aspectRatio={4} data={{ code: dynamicState('code'), pressed: state.pressed }} />
      </block>
    )
  },
})

const question = createComponent<{ name?: string }, { reason: string }, Action>({
  componentId: 'question',
  initialState: { reason: '' },
  action: ({ state }) => ({ type: 'complete', returnValue: { reason: state.reason } }),
  render: ({ props }) => (
    <modal title={`A question to ${props.name}`} subtitle="Its answer goes back" submit={<button label="Answer" onPress={{ action: 'answer' }} />}>
      <input label="Reason" element={<textinput state="reason" />} />
    </modal>
  ),
})

const regions = [
  { id: 'eu', label: 'Europe' },
  { id: 'as', label: 'Asia' },
]

export default createIntegration<RuntimeContext>({
  components: [elements, question],
  fetch: async (request) =>
    new URL(request.url).pathname.endsWith('/regions')
      ? Response.json(regions)
      : new Response(framePage, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
})
