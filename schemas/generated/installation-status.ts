// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * Status of an installation, as the API shows it. `pending`: its settings are not complete. `paused`: by a person. `suspended`: its script ended its processes too often.
 */
export type InstallationStatus = 'pending' | 'active' | 'paused' | 'suspended'
