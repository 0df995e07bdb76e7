/** A page for a `webframe`: it shows what it gets, says how high it is, and sends an action. */
export const framePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Frame</title>
<style>
  body { margin: 0; padding: 12px; font: 14px/1.5 system-ui, sans-serif; color: #1a1f2b; background: #fff }
  pre { margin: 0 0 8px; white-space: pre-wrap }
</style>
<pre id="code">Nothing yet</pre>
<button id="press">Press from the frame</button>
<script>
  const post = (action) => parent.postMessage({ action }, '*')
  addEventListener('message', ({ data }) => {
    if (!data.state) return
    document.getElementById('code').textContent = data.state.code + '\\n' + data.state.pressed + ' pressed'
    post({ action: '@webframe.resize', size: { height: document.documentElement.offsetHeight } })
  })
  document.getElementById('press').onclick = () => post({ action: 'press' })
  post({ action: '@webframe.ready' })
</script>
</html>`
