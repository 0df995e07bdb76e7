/**
 * What cannot be run in an isolate, each with its reason. A file is named by the start of its path; a subtest by
 * its file and a pattern of its name. Nothing stands here because it fails.
 */
export const excludedFiles: [start: string, reason: string][] = [
  ['FileAPI/FileReader', 'FileReader is not part of the Minimum Common Web API'],
  ['FileAPI/fileReader', 'FileReader is not part of the Minimum Common Web API'],
  ['FileAPI/reading-data-section', 'FileReader is not part of the Minimum Common Web API'],
  ['FileAPI/url', 'blob: URLs need a document'],
  ['FileAPI/BlobURL', 'blob: URLs need a document'],
  ['FileAPI/file/send-file-formdata', 'posts to a server of the test suite that runs Python'],
  ['FileAPI/blob/Blob-constructor-dom', 'needs a document'],
  ['url/javascript-urls', 'needs a document'],
  ['url/url-setters-a-area', 'needs a document'],
  ['url/percent-encoding', 'needs documents in other encodings'],
  ['encoding/replacement-encodings', 'reads documents with XMLHttpRequest'],
  ['encoding/streams/invalid-realm', 'needs a document'],
  ['encoding/streams/realms', 'needs a document'],
  ['encoding/streams/decode-utf8', 'begins with making shared memory'],
  ['encoding/unsupported', 'reads documents with XMLHttpRequest'],
  ['dom/events/legacy-pre-activation-behavior', 'needs a document'],
  ['dom/events/event-global', 'window.event belongs to a window'],
  ['dom/events/relatedTarget', 'needs a document'],
  ['dom/events/Event-dispatch-listener-order', 'needs a document'],
  ['dom/events/EventListener-addEventListener', 'needs a document'],
  ['dom/abort/timeout-shadowrealm', 'needs a shadow realm'],
  ['html/webappapis/timers/evil-spec-example', 'sets a timer with code as text, which is removed'],
  ['html/webappapis/microtask-queuing/queue-microtask.window.js', 'needs a document'],
  ['html/infrastructure/safe-passing-of-structured-data/shared-array-buffers', 'shared memory is removed'],
  ['html/infrastructure/safe-passing-of-structured-data/transfer-errors', 'needs windows'],
  ['html/infrastructure/safe-passing-of-structured-data/window-postmessage', 'needs windows'],
  ['html/infrastructure/safe-passing-of-structured-data/structured-cloning-error', 'needs windows'],
  ['webmessaging/broadcastchannel', 'BroadcastChannel is not part of the Minimum Common Web API'],
  ['webmessaging/message-channels/worker', 'needs a worker'],
  ['webmessaging/message-channels/detached-iframe', 'needs a document'],
  ['webmessaging/Channel_postMessage_Blob', 'reads a Blob with FileReader'],
  ['webmessaging/message-channels/close-event/explicitly', 'needs windows'],
  ['webmessaging/message-channels/close-event/document', 'needs a document'],
  ['webmessaging/message-channels/close-event/entangled', 'needs a document'],
  ['webmessaging/message-channels/close-event/garbage', 'needs a way to force garbage collection'],
  ['webmessaging/message-channels/user-activation', 'user activation belongs to a window'],
  ['webmessaging/MessageEvent-trusted.window', 'needs windows'],
  ['webmessaging/postMessage_MessagePorts', 'needs windows'],
  ['webmessaging/Channel_postMessage_transfer_xsite', 'needs windows'],
  ['hr-time/window-worker-timeOrigin', 'needs a worker'],
  ['streams/transferable', 'needs workers or windows'],
  ['fetch/api/response/response-clone-iframe', 'needs a document'],
  ['fetch/api/response/response-arraybuffer-realm', 'needs a document'],
  ['fetch/api/response/response-blob-realm', 'needs a document'],
  ['fetch/api/request/multi-globals', 'needs a document'],
  ['fetch/api/request/request-cache', 'the HTTP cache of a browser'],
  ['fetch/api/request/request-bad-port', 'needs servers that answer on many ports'],
  ['fetch/api/abort/cache', 'the Cache interface is not part of the Minimum Common Web API'],
  ['WebCryptoAPI/algorithm-discards-context', 'needs a document'],
]

export const excludedSubtests: [start: string, name: RegExp, reason: string][] = [
  ['', /SharedArrayBuffer|shared Uint8Array/, 'shared memory is removed: it is a fine clock'],
  ['', /WebAssembly/, 'WebAssembly is removed: its memory is outside the heap limit'],
  ['', /^WorkerGlobalScope interface/, 'the global object of a sandbox is not that of a worker'],
  ['encoding/single-byte-decoder.window.js?XMLHttpRequest', /./, 'needs XMLHttpRequest'],
  ['encoding/single-byte-decoder.window.js?document', /./, 'needs a document'],
  [
    'webmessaging/MessageEvent-trusted.any.js',
    /BroadcastChannel/,
    'BroadcastChannel is not part of the Minimum Common Web API',
  ],
  ['url/toascii', /\((a|area)\)|using (<a|<area)/, 'needs a document'],
]

export const whyFileIsExcluded = (file: string): string | undefined =>
  excludedFiles.find(([start]) => file.startsWith(start))?.[1]

export const whySubtestIsExcluded = (file: string, name: string): string | undefined =>
  excludedSubtests.find(([start, pattern]) => file.startsWith(start) && pattern.test(name))?.[2]
