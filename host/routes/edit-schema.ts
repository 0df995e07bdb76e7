/** JSON Schema of a PATCH of an installation, or of its site or space installation. */
export const editSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    configuration: { type: 'object', maxProperties: 200 },
    externalIds: { type: 'array', maxItems: 50, items: { type: 'string', maxLength: 500 } },
  },
}
