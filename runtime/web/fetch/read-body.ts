import { decodeUtf8 } from '../encoding/utf8.ts'
import { Blob } from '../file/blob.ts'
import { FormData } from '../file/form-data.ts'
import { parseMultipart } from '../file/multipart.ts'
import { URLSearchParams } from '../url/url.ts'
import { type Body, consumeBytes, consumeText } from './body.ts'

/** `json()` of a Request or Response. */
export const readJson = async (body: Body | null, what: string): Promise<unknown> =>
  JSON.parse(await consumeText(body, what))

/** `blob()` of a Request or Response. */
export const readBlob = async (body: Body | null, what: string, contentType: string | null): Promise<Blob> =>
  new Blob([await consumeBytes(body, what)], { type: contentType ?? '' })

/** `formData()` of a Request or Response: multipart or URL-encoded, by its content type. */
export const readFormData = async (
  body: Body | null,
  what: string,
  contentType: string | null,
): Promise<FormData> => {
  const essence = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (essence === 'multipart/form-data') {
    const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '')
    const text = boundary?.[1] ?? boundary?.[2]
    if (text === undefined) throw new TypeError('The content type multipart/form-data has no boundary')
    return parseMultipart(await consumeBytes(body, what), text)
  }
  if (essence === 'application/x-www-form-urlencoded') {
    const form = new FormData()
    const fields = new URLSearchParams(decodeUtf8(await consumeBytes(body, what)))
    for (const [name, value] of fields) form.append(name, value)
    return form
  }
  throw new TypeError(`formData() cannot read a body of the content type ${JSON.stringify(contentType)}`)
}
