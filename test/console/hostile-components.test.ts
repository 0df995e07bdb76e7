// tier: console (attacks of components in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { agreementTo } from '../support/agreement.ts'
import { until } from '../support/annex.ts'
import { overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

const types =
  'block configuration modal vstack hstack box spacer divider text markdown link image card hint button input textinput select switch radio checkbox codeblock stepper step webframe'
const properties =
  'children controls title subtitle size submit returnValue align grow style content target source aspectRatio hint icon onPress buttons label trailingIcon tooltip confirm disabled element state initialValue onValueChange placeholder multiline inputType options multiple acceptInput value syntax lineNumbers onContentChange header footer activeStep onStepChange onComplete id next data key class className ref onClick dangerouslySetInnerHTML srcdoc'

/** A component that answers the tree of a name, which a request to the endpoint sets. */
const script = `
import { createComponent, createIntegration } from '@annex/runtime'
const evil = '<img src=x onerror="top.hacked=1"><script>top.hacked=1</script>'
const types = '${types}'.split(' ')
const properties = '${properties}'.split(' ')
const odd = [null, 0, -1, '', evil, [], {}, [[[evil]]], { type: 'nothing-known' }, true, { $state: '__proto__' }, { $state: 7 }, { action: 7 }, { url: evil }, { type: 'text' }]
const addresses = ['javascript:top.hacked=1', ' JaVaScRiPt:top.hacked=1', 'java\\nscript:top.hacked=1', 'data:text/html,' + evil, 'vbscript:x', 'blob:https://a.example/x', 'file:///etc/passwd', 'filesystem:https://a.example/x', '//evil.example', '/orgs/home/members', '', 'https://', {}, 7, { host: 'a.example/x', pathname: '/' }, { host: 'a@evil.example', pathname: '/' }]
const nest = (depth) => { let tree = 'bottom'; for (let n = 0; n < depth; n += 1) tree = { type: 'box', children: [tree] }; return tree }
let endpoint = ''
let renders = 0
const trees = {
  odd: () => types.flatMap((type) => properties.map((name, at) => ({ type, state: 's', [name]: odd[at % odd.length] }))).concat(types.flatMap((type) => odd.map((value) => ({ ...Object.fromEntries(properties.map((name) => [name, value])), type })))),
  links: () => addresses.flatMap((url) => [{ type: 'link', target: { url }, children: ['link'] }, { type: 'link', target: url, children: ['link'] }, { type: 'webframe', source: { url } }, { type: 'image', source: { url } }, { type: 'markdown', content: '[a](' + url + ')' }]).concat({ type: 'link', target: 'https://good.example', children: ['good'] }),
  names: () => ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'script', 'iframe', 'style', 'object', 'a'].map((type) => ({ type, src: 'https://evil.example', children: [evil] })).concat(['__proto__', 'constructor'].map((state) => ({ type: 'textinput', label: state, state, initialValue: 'polluted' })), { type: 'button', label: 'send', onPress: { action: 'echo' } }),
  many: () => Array.from({ length: 100_000 }, (_, n) => ({ type: 'text', children: ['t' + n] })),
  deeper: () => nest(10_000),
  opens: () => [...addresses, 'ftp://a.example', 'mailto:a@example.com', 'https://annex.example@evil.example/', 'https://xn--pple-43d.example', 'https://\\u0430pple.example', 'http://plain.example:8080/x'].map((url, n) => ({ type: 'button', label: 'open ' + n, onPress: { action: '@ui.url.open', url } })),
  tracker: () => [{ type: 'image', source: { url: 'https://tracker.example/p.png' } }, { type: 'image', source: { url: endpoint.replace('/x/', '/v1/') } }, { type: 'card', icon: { type: 'image', source: { url: 'https://tracker.example/i.png' } }, title: 'card' }, { type: 'markdown', content: '![p](https://tracker.example/m.png)' }],
  loop: () => [{ type: 'text', children: ['Rendered ' + (renders += 1)] }, { type: 'textinput', label: 'loop', state: 'n' + renders, initialValue: String(renders), onValueChange: { action: 'again' } }, { type: 'switch', label: 'turn', state: 's' + renders, initialValue: true, onValueChange: { action: 'again' } }],
  frames: () => [{ type: 'webframe', source: { url: endpoint + '/one' }, data: { secret: 'for one' } }, { type: 'webframe', source: { url: endpoint + '/two' } }],
}
const frame = (path) => '<!doctype html><script>' +
  'const post = (action) => parent.postMessage({ action }, "*");' +
  'const tried = {};' +
  'const attempt = (name, act) => { try { tried[name] = String(act()) } catch (error) { tried[name] = error.name } };' +
  'attempt("document", () => parent.document.title); attempt("cookie", () => document.cookie); attempt("storage", () => localStorage.length);' +
  'attempt("location", () => { top.location.href = "https://evil.example/" }); attempt("hacked", () => { parent.hacked = 1 });' +
  'attempt("href", () => parent.location.href); attempt("origin", () => self.origin);' +
  (path === 'two'
    ? 'const cycle = { action: "press" }; cycle.self = cycle; post(cycle); post({ action: "big", text: "x".repeat(70000) }); parent.postMessage("text", "*"); parent.postMessage(null, "*"); parent.postMessage({ action: "press" }, "*");' +
      'post({ action: "@webframe.resize", size: { height: 1e9, maxWidth: "expression(1)", aspectRatio: -1 } }); parent.frames[0].postMessage({ state: { forged: 1 } }, "*");'
    : 'addEventListener("message", ({ data }) => { tried.got = JSON.stringify(data); post({ action: "tried", tried }) }); post({ action: "@webframe.ready" });') +
  'onmessage = (event) => { if (event.data === "flood") for (let n = 0; n < 1000; n += 1) post({ action: "press", n }) }' +
  '</script>'
let shown = 'odd'
const evilComponent = createComponent({
  componentId: 'evil',
  initialState: {},
  action: ({ state }, action) => ({ state: { ...state, log: [...(state.log ?? []), action] } }),
  render: ({ state }, { environment }) => {
    endpoint = environment.integration.urls.publicEndpoint
    return { type: 'block', children: [{ type: 'codeblock', content: JSON.stringify(state) }, ...trees[shown]()] }
  },
})
export default createIntegration({
  components: [evilComponent],
  fetch: async (request) => {
    const url = new URL(request.url)
    shown = url.searchParams.get('tree') ?? shown
    return new Response(frame(url.pathname.split('/').at(-1)), { headers: { 'content-type': 'text/html', 'x-cookie': String(request.headers.get('cookie')) } })
  },
})`

describe('a hostile component', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  let page: Page
  let endpoint: string
  let at: string
  before(async () => {
    const more = 'configurations: { account: { componentId: evil } }'
    opened = await openConsole({ plugins: { evil: { script, more } } })
    const { annex } = opened
    const { organization } = annex.server.samples
    const agreed = await agreementTo(annex, 'evil')
    const installed = await annex.api('POST', '/v1/integrations/evil/installations', {
      organization,
      ...agreed,
    })
    endpoint = installed.json.urls.publicEndpoint
    at = `/orgs/home/installations/${installed.json.id}`
    tab = await opened.asOperator()
    page = tab.page
    page.setDefaultTimeout(8000)
  })
  after(() => opened.close())

  async function show(tree: string): Promise<void> {
    assert.equal((await fetch(`${endpoint}?tree=${tree}`)).status, 200)
    await tab.goto(at)
    await page.locator('.component .c-stack').first().waitFor()
  }
  const isHacked = () => page.evaluate('typeof hacked !== "undefined" || typeof top.hacked !== "undefined"')
  const state = async () =>
    JSON.parse((await page.locator('.c-code-text code').first().textContent()) ?? '{}')

  it('with any value in any property draws what is left, and nothing more', async () => {
    await show('odd')
    assert.equal(await page.getByText('This part of the page has an error.').count(), 0)
    assert.equal(await isHacked(), false)
    assert.equal(await page.locator('.component :is(script, style, object, embed, base, meta)').count(), 0)
    assert.equal(await page.locator('.component [srcdoc], .component [onclick]').count(), 0)
    assert.ok((await overflowOf(page)) <= 0)
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('has no link, frame or picture but of http and https', async () => {
    await show('links')
    const links = await page.evaluate('[...document.querySelectorAll(".component a")].map((one) => one.href)')
    assert.deepEqual(links, ['https://good.example/'])
    assert.equal(await page.locator('.component :is(iframe, img)').count(), 0)
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('with names of JavaScript as types and as keys of its state reaches no prototype', async () => {
    await show('names')
    await page.getByText('9 notes for its author').waitFor()
    await page.getByRole('button', { name: 'send' }).click()
    await until(state, ({ log }) => log?.length === 1)
    assert.equal(await page.evaluate('({}).polluted ?? Object.prototype.initialValue ?? "none"'), 'none')
    assert.equal(await page.getByLabel('constructor').inputValue(), 'polluted')
    assert.equal(await page.getByLabel('__proto__').inputValue(), 'polluted')
  })

  it('with too many elements is cut, and the page works on', async () => {
    await show('many')
    await page.getByText('A note for its author').click()
    await page.getByText('The tree has more than 10,000 values. The rest is left out.').waitFor()
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await page.getByText('What the script asks for').waitFor({ state: 'hidden' })
  })

  it('within 10,000 others is an error of its own, and the page works on', async () => {
    assert.equal((await fetch(`${endpoint}?tree=deeper`)).status, 200)
    await tab.goto(at)
    await page.getByRole('alert').getByText('“evil” could not be shown.').waitFor()
    await page.getByText('What happens now').waitFor()
    assert.deepEqual([tab.said, tab.refused.splice(0)], [[], [500]])
  })

  it('opens http and https alone, and the host of the address is named', async () => {
    await show('opens')
    const titles: string[] = []
    const count = await page.getByRole('button', { name: /^open \d+$/ }).count()
    for (let n = 0; n < count; n += 1) {
      await page.getByRole('button', { name: `open ${n}`, exact: true }).click()
      titles.push((await page.getByRole('dialog').getByRole('heading').textContent()) ?? '')
      await page.keyboard.press('Escape')
    }
    const refused = 'This address was not opened'
    assert.deepEqual(
      titles.filter((title) => title !== refused),
      [
        'Open evil.example?',
        'Open xn--pple-43d.example?',
        'Open xn--pple-43d.example?',
        'Open plain.example:8080?',
      ],
    )
    assert.equal(titles.length, 22)
    assert.equal(await isHacked(), false)
  })

  it('loads no picture of another host: Annex fetches it, and a link stands for what it does not get', async () => {
    const asked: string[] = []
    page.on('request', (request) => request.resourceType() === 'image' && asked.push(request.url()))
    await show('tracker')
    await page.getByRole('link', { name: 'Picture at tracker.example' }).first().waitFor()
    const paths = asked.filter((url) => !url.startsWith('data:')).map((url) => new URL(url))
    assert.deepEqual([...new Set(paths.map(({ origin }) => origin))], [new URL(page.url()).origin])
    assert.ok(
      paths.every(({ pathname }) =>
        /^\/v1\/integrations\/evil\/installations\/inst_[^/]+\/picture$/.test(pathname),
      ),
    )
    assert.deepEqual(new Set(tab.refused.splice(0)), new Set([502]))
    assert.deepEqual(tab.said, [])
  })

  it('that changes its state at each render is rendered once for each change of a person', async () => {
    await show('loop')
    await page.getByText('Rendered 1').waitFor()
    await page.getByLabel('loop').fill('x')
    await page.getByText('Rendered 2').waitFor()
    await page.getByLabel('turn').click()
    await page.getByText('Rendered 3').waitFor()
    await page.waitForTimeout(1_000)
    assert.equal(await page.getByText('Rendered 3').count(), 1)
  })

  it('in a frame reaches neither the page nor a cookie, and its messages count from its window alone', async () => {
    await show('frames')
    await page.locator('iframe').last().scrollIntoViewIfNeeded()
    const found = await until(state, ({ log }) =>
      log?.some(({ action }: { action: string }) => action === 'tried'),
    )
    const { tried } = found.log.find(({ action }: { action: string }) => action === 'tried')
    const refused = 'SecurityError'
    assert.deepEqual(
      { ...tried, got: undefined },
      {
        ...{ document: refused, cookie: refused, storage: refused, location: refused, hacked: refused },
        ...{ href: refused, origin: 'null', got: undefined },
      },
    )
    // The other frame may post to this one, as any page may. The page itself takes nothing that another window says.
    await page.evaluate('postMessage({ action: { action: "forged" } }, "*")')
    const frames = page.frames().filter((one) => one.url().includes('/x/evil/'))
    assert.equal(frames.length, 2)
    const { height = 0 } = (await page.locator('iframe').last().boundingBox()) ?? {}
    assert.ok(height <= 4_000, `${height}`)
    const { log } = await state()
    const actions = log.map(({ action }: { action: string }) => action)
    assert.equal(actions.includes('forged') || actions.includes('big') || actions.includes('press'), false)
    assert.equal(await isHacked(), false)
    assert.match(page.url(), /\/orgs\/home\//)
  })

  it('in a frame that sends 1,000 actions is held to some, with a note', async () => {
    await page
      .frames()
      .find((one) => one.url().endsWith('/two'))
      ?.evaluate('dispatchEvent(new MessageEvent("message", { data: "flood" }))')
    await page.getByText('A note for its author').click()
    await page.getByText('Actions came faster than the script ran. Some were left out.').waitFor()
    await page.waitForTimeout(1_000)
    const { log } = await state()
    assert.ok(log.length <= 31, `${log.length} actions`)
  })

  it('gets no cookie when a page loads its frame', async () => {
    const answer = await page.evaluate(
      `fetch('${new URL(endpoint).pathname}/one').then((response) => response.headers.get('x-cookie'))`,
    )
    assert.equal(answer, 'null')
  })
})
