// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { AccountsOperations } from './accounts.ts'
import type { ActivityOperations } from './activity.ts'
import type { AuditOperations } from './audit.ts'
import type { ConnectionsOperations } from './connections.ts'
import type { ContentOperations } from './content.ts'
import type { DeliveriesOperations } from './deliveries.ts'
import type { DispatchesOperations } from './dispatches.ts'
import type { EventsOperations } from './events.ts'
import type { InstallLinksOperations } from './install-links.ts'
import type { InstallationsOperations } from './installations.ts'
import type { IntegrationLevelsOperations } from './integration-levels.ts'
import type { IntegrationsOperations } from './integrations.ts'
import type { JobsOperations } from './jobs.ts'
import type { LogsOperations } from './logs.ts'
import type { MarkdownOperations } from './markdown.ts'
import type { MeOperations } from './me.ts'
import type { MembersOperations } from './members.ts'
import type { OrganizationsOperations } from './organizations.ts'
import type { ProblemsOperations } from './problems.ts'
import type { ReceiptsOperations } from './receipts.ts'
import type { ReceiversOperations } from './receivers.ts'
import type { SessionsOperations } from './sessions.ts'
import type { SettingsFormsOperations } from './settings-forms.ts'
import type { SitesOperations } from './sites.ts'
import type { SpacesOperations } from './spaces.ts'
import type { StatusChangesOperations } from './status-changes.ts'
import type { SystemOperations } from './system.ts'
import type { TokensOperations } from './tokens.ts'
import type { UsageOperations } from './usage.ts'
import type { VersionsOperations } from './versions.ts'
import type { ViewsOperations } from './views.ts'
import type { VisitorsOperations } from './visitors.ts'

/** Each operation of the API by its id. */
export type Operations = AccountsOperations &
  ActivityOperations &
  AuditOperations &
  ConnectionsOperations &
  ContentOperations &
  DeliveriesOperations &
  DispatchesOperations &
  EventsOperations &
  InstallLinksOperations &
  InstallationsOperations &
  IntegrationLevelsOperations &
  IntegrationsOperations &
  JobsOperations &
  LogsOperations &
  MarkdownOperations &
  MeOperations &
  MembersOperations &
  OrganizationsOperations &
  ProblemsOperations &
  ReceiptsOperations &
  ReceiversOperations &
  SessionsOperations &
  SettingsFormsOperations &
  SitesOperations &
  SpacesOperations &
  StatusChangesOperations &
  SystemOperations &
  TokensOperations &
  UsageOperations &
  VersionsOperations &
  ViewsOperations &
  VisitorsOperations

export type OperationId = keyof Operations

/** The ids of the three forms of an operation of levels, by the method and path of the account. */
export const levelOperations = {
  'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect': {
    account: 'readInstallationConnectionTarget',
    site: 'readSiteInstallationConnectionTarget',
    space: 'readSpaceInstallationConnectionTarget',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect': {
    account: 'connectInstallationSetting',
    site: 'connectSiteInstallationSetting',
    space: 'connectSpaceInstallationSetting',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/connect': {
    account: 'connectInstallation',
    site: 'connectSiteInstallation',
    space: 'connectSpaceInstallation',
  },
  'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/options': {
    account: 'listInstallationSettingOptions',
    site: 'listSiteInstallationSettingOptions',
    space: 'listSpaceInstallationSettingOptions',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/render': {
    account: 'renderInstallationComponent',
    site: 'renderSiteInstallationComponent',
    space: 'renderSpaceInstallationComponent',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/component-options': {
    account: 'listInstallationComponentOptions',
    site: 'listSiteInstallationComponentOptions',
    space: 'listSpaceInstallationComponentOptions',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/revision': {
    account: 'computeInstallationRevision',
    site: 'computeSiteInstallationRevision',
    space: 'computeSpaceInstallationRevision',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/document': {
    account: 'computeInstallationDocument',
    site: 'computeSiteInstallationDocument',
    space: 'computeSpaceInstallationDocument',
  },
  'GET /v1/integrations/{integration}/installations/{installation}': {
    account: 'getIntegrationInstallationById',
    site: 'getIntegrationSiteInstallation',
    space: 'getIntegrationSpaceInstallation',
  },
  'PATCH /v1/integrations/{integration}/installations/{installation}': {
    account: 'updateIntegrationInstallation',
    site: 'updateIntegrationSiteInstallation',
    space: 'updateIntegrationSpaceInstallation',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}': {
    account: 'uninstallIntegration',
    site: 'uninstallIntegrationFromSite',
    space: 'uninstallIntegrationFromSpace',
  },
  'PUT /v1/integrations/{integration}/installations/{installation}/configuration/{property}': {
    account: 'putInstallationSetting',
    site: 'putSiteInstallationSetting',
    space: 'putSpaceInstallationSetting',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}': {
    account: 'deleteInstallationSetting',
    site: 'deleteSiteInstallationSetting',
    space: 'deleteSpaceInstallationSetting',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection': {
    account: 'acceptInstallationConnection',
    site: 'acceptSiteInstallationConnection',
    space: 'acceptSpaceInstallationConnection',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection': {
    account: 'refuseInstallationConnection',
    site: 'refuseSiteInstallationConnection',
    space: 'refuseSpaceInstallationConnection',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/signing-secret': {
    account: 'rotateInstallationSecret',
    site: 'rotateSiteInstallationSecret',
    space: 'rotateSpaceInstallationSecret',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}/signing-secret/previous': {
    account: 'endInstallationSecretOverlap',
    site: 'endSiteInstallationSecretOverlap',
    space: 'endSpaceInstallationSecretOverlap',
  },
  'GET /v1/integrations/{integration}/installations/{installation}/configuration': {
    account: 'getInstallationSettingsForm',
    site: 'getSiteInstallationSettingsForm',
    space: 'getSpaceInstallationSettingsForm',
  },
  'GET /v1/integrations/{integration}/installations/{installation}/status-changes': {
    account: 'listInstallationStatusChanges',
    site: 'listSiteInstallationStatusChanges',
    space: 'listSpaceInstallationStatusChanges',
  },
} as const satisfies Record<string, { account: OperationId; site: OperationId; space: OperationId }>

/** The operations at an address. One of levels is named by that of the account, and stands for three. */
export type Routes = {
  'GET /v1/sign-in': 'getSignIn'
  'POST /v1/passkey-challenges': 'createPasskeyChallenge'
  'POST /v1/openid/flows': 'beginOpenid'
  'POST /v1/openid/callbacks': 'finishOpenid'
  'POST /v1/links': 'readLink'
  'POST /v1/accounts': 'createAccount'
  'POST /v1/resets': 'resetAccount'
  'POST /v1/resets/links': 'createResetLink'
  'GET /v1/account': 'getAccount'
  'PATCH /v1/account': 'updateAccount'
  'POST /v1/account/passkeys': 'addPasskey'
  'DELETE /v1/account/passkeys/{passkey}': 'deletePasskey'
  'DELETE /v1/account/openid': 'unlinkOpenid'
  'POST /v1/account/memberships': 'acceptInvitation'
  'POST /v1/orgs/{org}/members/{member}/invitation': 'inviteMember'
  'GET /v1/activity': 'getActivity'
  'GET /v1/audit': 'listAudit'
  'GET /v1/audit/export': 'exportAudit'
  'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect': 'readInstallationConnectionTarget' | 'readSiteInstallationConnectionTarget' | 'readSpaceInstallationConnectionTarget'
  'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect': 'connectInstallationSetting' | 'connectSiteInstallationSetting' | 'connectSpaceInstallationSetting'
  'POST /v1/integrations/{integration}/installations/{installation}/connect': 'connectInstallation' | 'connectSiteInstallation' | 'connectSpaceInstallation'
  'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/options': 'listInstallationSettingOptions' | 'listSiteInstallationSettingOptions' | 'listSpaceInstallationSettingOptions'
  'GET /connect/{token}': 'getConnectPage'
  'POST /connect/{token}': 'openConnectLink'
  'GET /v1/spaces/{space}/content': 'getCurrentRevision'
  'GET /v1/spaces/{space}/content/pages': 'listPages'
  'GET /v1/spaces/{space}/content/page/{page}': 'getPageById'
  'PUT /v1/spaces/{space}/content/page/{page}': 'putPage'
  'DELETE /v1/spaces/{space}/content/page/{page}': 'deletePage'
  'POST /v1/spaces/{space}/content/preview': 'previewPage'
  'POST /v1/spaces/{space}/content/page/{page}/blocks/{line}': 'renderPageBlock'
  'POST /v1/spaces/{space}/content/page/{page}/blocks/{line}/options': 'listPageBlockOptions'
  'GET /v1/spaces/{space}/picture': 'getPagePicture'
  'GET /v1/spaces/{space}/blocks': 'listBlocks'
  'POST /v1/spaces/{space}/revisions/{revision}/restore': 'restoreRevision'
  'GET /v1/spaces/{space}/revisions': 'listRevisions'
  'GET /v1/spaces/{space}/revisions/{revision}': 'getRevisionById'
  'GET /v1/spaces/{space}/revisions/{revision}/pages': 'listPagesInRevisionById'
  'GET /v1/spaces/{space}/revisions/{revision}/page/{page}': 'getPageInRevisionById'
  'GET /v1/spaces/{space}/revisions/{revision}/changes': 'getRevisionSemanticChanges'
  'GET /v1/deliveries': 'listDeliveries'
  'GET /v1/deliveries/feed': 'followDeliveries'
  'POST /v1/deliveries/send-failed': 'sendFailedDeliveries'
  'GET /v1/deliveries/{delivery}': 'getDelivery'
  'POST /v1/deliveries/{delivery}/send': 'sendDelivery'
  'POST /v1/integrations/{integration}/installations/{installation}/render': 'renderInstallationComponent' | 'renderSiteInstallationComponent' | 'renderSpaceInstallationComponent'
  'GET /v1/integrations/{integration}/installations/{installation}/picture': 'getComponentPicture'
  'POST /v1/integrations/{integration}/installations/{installation}/component-options': 'listInstallationComponentOptions' | 'listSiteInstallationComponentOptions' | 'listSpaceInstallationComponentOptions'
  'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/revision': 'computeInstallationRevision' | 'computeSiteInstallationRevision' | 'computeSpaceInstallationRevision'
  'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/document': 'computeInstallationDocument' | 'computeSiteInstallationDocument' | 'computeSpaceInstallationDocument'
  'GET /v1/integrations/{integration}/installations/{installation}/sites/{site}/script': 'getPublishedScript'
  'GET /v1/integrations/{integration}/installations/{installation}/sites/{site}/visitor-auth': 'authenticateVisitor'
  'POST /v1/events': 'publishEvent'
  'GET /v1/integrations/{integration}/install-links': 'listInstallLinks'
  'POST /v1/integrations/{integration}/install-links': 'createInstallLink'
  'DELETE /v1/integrations/{integration}/install-links/{link}': 'revokeInstallLink'
  'GET /v1/installations': 'listInstallations'
  'GET /v1/installations/{installation}': 'getInstallation'
  'GET /v1/integrations/{integration}/installations': 'listIntegrationInstallations'
  'POST /v1/integrations/{integration}/installations': 'installIntegration'
  'GET /v1/integrations/{integration}/installations/{installation}': 'getIntegrationInstallationById' | 'getIntegrationSiteInstallation' | 'getIntegrationSpaceInstallation'
  'PATCH /v1/integrations/{integration}/installations/{installation}': 'updateIntegrationInstallation' | 'updateIntegrationSiteInstallation' | 'updateIntegrationSpaceInstallation'
  'DELETE /v1/integrations/{integration}/installations/{installation}': 'uninstallIntegration' | 'uninstallIntegrationFromSite' | 'uninstallIntegrationFromSpace'
  'POST /v1/integrations/{integration}/installations/{installation}/pause': 'pauseInstallation'
  'POST /v1/integrations/{integration}/installations/{installation}/resume': 'resumeInstallation'
  'PUT /v1/integrations/{integration}/installations/{installation}/selection': 'selectPlaces'
  'GET /v1/integrations/{integration}/installations/{installation}/storage': 'listInstallationStorage'
  'GET /v1/integrations/{integration}/installations/{installation}/sites': 'listIntegrationInstallationSites'
  'POST /v1/integrations/{integration}/installations/{installation}/sites': 'installIntegrationOnSite'
  'GET /v1/integrations/{integration}/installations/{installation}/spaces': 'listIntegrationInstallationSpaces'
  'POST /v1/integrations/{integration}/installations/{installation}/spaces': 'installIntegrationOnSpace'
  'PUT /v1/integrations/{integration}/installations/{installation}/configuration/{property}': 'putInstallationSetting' | 'putSiteInstallationSetting' | 'putSpaceInstallationSetting'
  'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}': 'deleteInstallationSetting' | 'deleteSiteInstallationSetting' | 'deleteSpaceInstallationSetting'
  'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection': 'acceptInstallationConnection' | 'acceptSiteInstallationConnection' | 'acceptSpaceInstallationConnection'
  'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection': 'refuseInstallationConnection' | 'refuseSiteInstallationConnection' | 'refuseSpaceInstallationConnection'
  'POST /v1/integrations/{integration}/installations/{installation}/signing-secret': 'rotateInstallationSecret' | 'rotateSiteInstallationSecret' | 'rotateSpaceInstallationSecret'
  'DELETE /v1/integrations/{integration}/installations/{installation}/signing-secret/previous': 'endInstallationSecretOverlap' | 'endSiteInstallationSecretOverlap' | 'endSpaceInstallationSecretOverlap'
  'GET /v1/integrations/{integration}/sites': 'listIntegrationSiteInstallations'
  'GET /v1/integrations/{integration}/spaces': 'listIntegrationSpaceInstallations'
  'GET /v1/integrations/{integration}/assets/{image}': 'getIntegrationImage'
  'GET /v1/integrations': 'listIntegrations'
  'GET /v1/integrations/{integration}': 'getIntegrationByName'
  'POST /v1/integrations/{integration}/settings/check': 'checkIntegrationSettings'
  'POST /v1/integrations/{integration}/resume': 'resumeIntegration'
  'POST /v1/integrations/{integration}/installations/{installation}/tokens': 'createIntegrationInstallationToken'
  'POST /v1/integrations/{integration}/tasks': 'queueIntegrationTask'
  'GET /v1/reload': 'readFolderLoad'
  'POST /v1/reload': 'reloadFolders'
  'GET /v1/jobs': 'listJobs'
  'GET /v1/jobs/{job}': 'getJob'
  'DELETE /v1/jobs/{job}': 'discardJob'
  'POST /v1/jobs/{job}/run': 'runJob'
  'GET /v1/logs': 'listLogs'
  'POST /v1/markdown': 'drawMarkdown'
  'GET /v1/me': 'getMe'
  'GET /v1/orgs/{org}/members': 'listMembersInOrganizationById'
  'POST /v1/orgs/{org}/members': 'addMemberToOrganizationById'
  'GET /v1/orgs/{org}/members/{member}': 'getMemberInOrganizationById'
  'PATCH /v1/orgs/{org}/members/{member}': 'updateMemberInOrganizationById'
  'DELETE /v1/orgs/{org}/members/{member}': 'removeMemberFromOrganizationById'
  'POST /v1/setup': 'redeemSetupToken'
  'GET /v1/orgs': 'listOrganizations'
  'POST /v1/orgs': 'createOrganization'
  'GET /v1/orgs/{org}': 'getOrganizationById'
  'PATCH /v1/orgs/{org}': 'updateOrganizationById'
  'DELETE /v1/orgs/{org}': 'deleteOrganizationById'
  'GET /v1/problems': 'listProblems'
  'GET /v1/receipts': 'listReceipts'
  'GET /v1/receipts/{receipt}': 'getReceipt'
  'GET /v1/usage': 'listUsage'
  'GET /v1/receivers': 'listReceivers'
  'GET /v1/receivers/{receiver}': 'getReceiver'
  'PATCH /v1/receivers/{receiver}': 'updateReceiver'
  'POST /v1/receivers/{receiver}/pause': 'pauseReceiver'
  'POST /v1/receivers/{receiver}/resume': 'resumeReceiver'
  'POST /v1/receivers/{receiver}/example': 'sendExampleEvent'
  'POST /v1/sessions': 'signIn'
  'GET /v1/sessions': 'listSessions'
  'DELETE /v1/sessions/{session}': 'endSession'
  'POST /v1/sessions/current/confirmation': 'confirmSession'
  'GET /v1/integrations/{integration}/installations/{installation}/configuration': 'getInstallationSettingsForm' | 'getSiteInstallationSettingsForm' | 'getSpaceInstallationSettingsForm'
  'GET /v1/orgs/{org}/sites': 'listSites'
  'POST /v1/orgs/{org}/sites': 'createSite'
  'GET /v1/orgs/{org}/sites/{site}': 'getSiteById'
  'PATCH /v1/orgs/{org}/sites/{site}': 'updateSiteById'
  'DELETE /v1/orgs/{org}/sites/{site}': 'deleteSiteById'
  'GET /v1/orgs/{org}/spaces': 'listSpacesInOrganizationById'
  'POST /v1/orgs/{org}/spaces': 'createSpace'
  'GET /v1/spaces/{space}': 'getSpaceById'
  'PATCH /v1/spaces/{space}': 'updateSpaceById'
  'DELETE /v1/spaces/{space}': 'deleteSpaceById'
  'GET /v1/integrations/{integration}/installations/{installation}/status-changes': 'listInstallationStatusChanges' | 'listSiteInstallationStatusChanges' | 'listSpaceInstallationStatusChanges'
  'GET /healthz': 'getHealth'
  'GET /readyz': 'getReadiness'
  'GET /metrics': 'getMetrics'
  'GET /openapi.json': 'getOpenApi'
  'GET /v1/orgs/{org}/tokens': 'listOrganizationTokens'
  'POST /v1/orgs/{org}/tokens': 'createOrganizationToken'
  'DELETE /v1/orgs/{org}/tokens/{token}': 'revokeOrganizationToken'
  'GET /v1/tokens': 'listOperatorTokens'
  'POST /v1/tokens': 'createOperatorToken'
  'DELETE /v1/tokens/{token}': 'revokeOperatorToken'
  'GET /v1/usage/installations': 'listUsageByInstallation'
  'GET /v1/integrations/{integration}/versions': 'listIntegrationVersions'
  'GET /v1/integrations/{integration}/versions/{version}/diff': 'compareIntegrationVersions'
  'POST /v1/integrations/{integration}/rollback': 'rollBackIntegration'
  'POST /v1/integrations/{integration}/unpin': 'unpinIntegration'
  'GET /v1/integrations/{integration}/installations/{installation}/agreement': 'getInstallationAgreement'
  'POST /v1/integrations/{integration}/installations/{installation}/agreement': 'agreeToVersion'
  'POST /v1/prune': 'pruneIntegrations'
  'GET /v1/sites/{site}/script.js': 'getSiteScript'
  'POST /v1/sites/{site}/views': 'recordSiteView'
  'OPTIONS /v1/sites/{site}/views': 'allowSiteViews'
  'POST /v1/sites/{site}/feedback': 'recordPageFeedback'
  'OPTIONS /v1/sites/{site}/feedback': 'allowPageFeedback'
  'GET /v1/orgs/{org}/sites/{site}/script': 'getSiteScriptSettings'
  'PUT /v1/orgs/{org}/sites/{site}/script': 'updateSiteScriptSettings'
  'GET /v1/orgs/{org}/sites/{site}/views': 'listSiteViews'
  'GET /v1/orgs/{org}/sites/{site}/views/counts': 'countSiteViews'
  'GET /v1/orgs/{org}/sites/{site}/adaptive-schema': 'getSiteAdaptiveSchema'
  'PUT /v1/orgs/{org}/sites/{site}/adaptive-schema': 'updateSiteAdaptiveSchema'
  'DELETE /v1/orgs/{org}/sites/{site}/adaptive-schema': 'deleteSiteAdaptiveSchema'
  'GET /v1/orgs/{org}/sites/{site}/publishing/auth': 'getSitePublishingAuthById'
  'POST /v1/orgs/{org}/sites/{site}/publishing/auth/verify': 'verifySiteVisitorToken'
}
