import { utf8toStringLoose } from '@exodus/bytes/utf8.js'
import { type Blob, createBlob } from '../file/blob.ts'
import { FormData } from '../file/form-data.ts'
import { extractMimeType, writeMimeType } from '../file/mime-type.ts'
import { parseMultipart } from '../file/multipart.ts'
import { NativePromise, parseJson } from '../primordials.ts'
import { URLSearchParams } from '../url/url.ts'
import { type Body, consumeBody, consumeText } from './body.ts'

const asIs = <T>(value: T): T => value

export const readText = (body: Body | null, what: string): Promise<string> => consumeText(body, what, asIs)

export const readJson = (body: Body | null, what: string): Promise<unknown> =>
  consumeText(body, what, parseJson)

export const readBytes = (body: Body | null, what: string): Promise<Uint8Array<ArrayBuffer>> =>
  consumeBody(body, what, toOwnBytes)

export const readBuffer = (body: Body | null, what: string): Promise<ArrayBuffer> =>
  consumeBody(body, what, (bytes) => toOwnBytes(bytes).buffer)

export const readBlob = (body: Body | null, what: string, contentType: string | null): Promise<Blob> =>
  consumeBody(body, what, (bytes) => {
    const type = extractMimeType(contentType)
    return createBlob(bytes, type === undefined ? '' : writeMimeType(type))
  })

/** Multipart or URL-encoded, by its content type. */
export const readFormData = (
  body: Body | null,
  what: string,
  contentType: string | null,
): Promise<FormData> => consumeBody(body, what, (bytes) => parseForm(bytes, contentType))

const parseForm = (bytes: Uint8Array<ArrayBuffer>, contentType: string | null): FormData => {
  const type = extractMimeType(contentType)
  if (type?.essence === 'multipart/form-data') {
    const boundary = type.parameters.get('boundary')
    if (boundary === undefined) throw new TypeError('The content type multipart/form-data has no boundary')
    return parseMultipart(bytes, boundary)
  }
  if (type?.essence === 'application/x-www-form-urlencoded') {
    const form = new FormData()
    // Behind an "&", so that a question mark at its start is a part of the first name.
    const fields = new URLSearchParams(`&${utf8toStringLoose(bytes)}`)
    for (const [name, value] of fields) form.append(name, value)
    return form
  }
  throw new TypeError(`formData() cannot read a body of the content type ${JSON.stringify(contentType)}`)
}

/** The script may do with `bytes.buffer` what it likes, so there is nothing else in it. */
const toOwnBytes = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()

/** Web IDL: what returns a promise rejects it where it is called on something else. */
export const illegal = (what: string): Promise<never> =>
  NativePromise.reject(new TypeError(`This is called on something that is no ${what}`))
