import { Performance } from './clock/performance.ts'
import { CompressionStream, DecompressionStream } from './compression/compression-streams.ts'
import { Crypto } from './crypto/crypto.ts'
import { CryptoKey } from './crypto/crypto-key.ts'
import { SubtleCrypto } from './crypto/subtle-crypto.ts'
import { TextDecoder, TextEncoder } from './encoding/text-encoding.ts'
import { AbortController, AbortSignal } from './events/abort-signal.ts'
import { CustomEvent } from './events/custom-event.ts'
import { DOMException } from './events/dom-exception.ts'
import { ErrorEvent } from './events/error-event.ts'
import { Event } from './events/event.ts'
import { EventTarget } from './events/event-target.ts'
import { PromiseRejectionEvent } from './events/promise-rejection-event.ts'
import { Headers } from './fetch/headers.ts'
import { Request } from './fetch/request.ts'
import { Response } from './fetch/response.ts'
import { Blob } from './file/blob.ts'
import { File } from './file/file.ts'
import { FormData } from './file/form-data.ts'
import { MessageChannel } from './messaging/message-channel.ts'
import { MessageEvent } from './messaging/message-event.ts'
import { MessagePort } from './messaging/message-port.ts'
import { Navigator } from './navigator.ts'
import * as streams from './streams/streams.ts'
import { TextDecoderStream, TextEncoderStream } from './streams/text-streams.ts'
import { URL, URLSearchParams } from './url/url.ts'
import { URLPattern } from './url/url-pattern.ts'
import { WebSocket } from './web-socket.ts'

/** Every interface of the platform, with the number of arguments that its constructor needs. */
export const interfaces: Record<string, [made: { prototype: object }, needs: number]> = {
  AbortController: [AbortController, 0],
  AbortSignal: [AbortSignal, 0],
  Blob: [Blob, 0],
  ByteLengthQueuingStrategy: [streams.ByteLengthQueuingStrategy, 1],
  CompressionStream: [CompressionStream, 1],
  CountQueuingStrategy: [streams.CountQueuingStrategy, 1],
  Crypto: [Crypto, 0],
  CryptoKey: [CryptoKey, 0],
  CustomEvent: [CustomEvent, 1],
  DOMException: [DOMException, 0],
  DecompressionStream: [DecompressionStream, 1],
  ErrorEvent: [ErrorEvent, 1],
  Event: [Event, 1],
  EventTarget: [EventTarget, 0],
  File: [File, 2],
  FormData: [FormData, 0],
  Headers: [Headers, 0],
  MessageChannel: [MessageChannel, 0],
  MessageEvent: [MessageEvent, 1],
  MessagePort: [MessagePort, 0],
  Navigator: [Navigator, 0],
  Performance: [Performance, 0],
  PromiseRejectionEvent: [PromiseRejectionEvent, 2],
  ReadableByteStreamController: [streams.ReadableByteStreamController, 0],
  ReadableStream: [streams.ReadableStream, 0],
  ReadableStreamBYOBReader: [streams.ReadableStreamBYOBReader, 1],
  ReadableStreamBYOBRequest: [streams.ReadableStreamBYOBRequest, 0],
  ReadableStreamDefaultController: [streams.ReadableStreamDefaultController, 0],
  ReadableStreamDefaultReader: [streams.ReadableStreamDefaultReader, 1],
  Request: [Request, 1],
  Response: [Response, 0],
  SubtleCrypto: [SubtleCrypto, 0],
  TextDecoder: [TextDecoder, 0],
  TextDecoderStream: [TextDecoderStream, 0],
  TextEncoder: [TextEncoder, 0],
  TextEncoderStream: [TextEncoderStream, 0],
  TransformStream: [streams.TransformStream, 0],
  TransformStreamDefaultController: [streams.TransformStreamDefaultController, 0],
  URL: [URL, 1],
  URLPattern: [URLPattern, 0],
  URLSearchParams: [URLSearchParams, 0],
  WebSocket: [WebSocket, 1],
  WritableStream: [streams.WritableStream, 0],
  WritableStreamDefaultController: [streams.WritableStreamDefaultController, 0],
  WritableStreamDefaultWriter: [streams.WritableStreamDefaultWriter, 1],
}
