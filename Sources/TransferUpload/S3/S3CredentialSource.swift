import TransferCore

/// A source that gives temporary S3 credentials when it is asked. It holds names, paths and URLs, and no secret.
///
/// See "Standardized credential providers" of the AWS SDKs and Tools reference guide.
package enum S3CredentialSource: Sendable, Hashable {
    /// A program that writes credentials as JSON (`credential_process` of a profile).
    case process(Process)
    /// A role that is assumed with the token of an OpenID Connect provider.
    case webIdentity(WebIdentity)
    /// A role that is assumed with the credentials of another place.
    case assumedRole(AssumedRole)
    /// A role of IAM Identity Center, by the token that `aws sso login` stored.
    case singleSignOn(SingleSignOn)
    /// The role of a container.
    case container(Container)
    /// The role of a virtual machine, by version 2 of its metadata service.
    case instance(Instance)

    package struct Process: Sendable, Hashable {
        package var profile: String
        /// The program and its arguments. No shell reads them.
        package var arguments: [String]

        package init(profile: String, arguments: [String]) {
            self.profile = profile
            self.arguments = arguments
        }
    }

    package struct WebIdentity: Sendable, Hashable {
        /// The URL of the Security Token Service.
        package var endpoint: String
        package var role: String
        package var session: String
        package var tokenFile: String

        package init(endpoint: String, role: String, session: String, tokenFile: String) {
            self.endpoint = endpoint
            self.role = role
            self.session = session
            self.tokenFile = tokenFile
        }
    }

    package struct AssumedRole: Sendable, Hashable {
        /// The place of the credentials that assume the role.
        package enum Base: Sendable, Hashable {
            case profile(String)
            case environment, container, instance
        }

        /// The URL of the Security Token Service, and the region that its requests are signed for.
        package var endpoint: String
        package var region: String
        package var role: String
        package var session: String
        package var externalID: String?
        /// The wanted duration in seconds; `nil` leaves it to the service.
        package var duration: Int?
        package var base: Base

        package init(
            endpoint: String, region: String, role: String, session: String, externalID: String? = nil,
            duration: Int? = nil, base: Base
        ) {
            self.endpoint = endpoint
            self.region = region
            self.role = role
            self.session = session
            self.externalID = externalID
            self.duration = duration
            self.base = base
        }
    }

    package struct SingleSignOn: Sendable, Hashable {
        /// The URL of the access portal.
        package var endpoint: String
        package var account: String
        package var role: String
        /// The file of the stored token.
        package var cache: String
        /// The command that stores a new token.
        package var login: String

        package init(endpoint: String, account: String, role: String, cache: String, login: String) {
            self.endpoint = endpoint
            self.account = account
            self.role = role
            self.cache = cache
            self.login = login
        }
    }

    package struct Container: Sendable, Hashable {
        package var url: String
        /// The file with the value of the field Authorization; `nil` uses ``tokenVariable``.
        package var tokenFile: String?

        /// The variable with the value of the field Authorization, where no file has it.
        package static let tokenVariable = "AWS_CONTAINER_AUTHORIZATION_TOKEN"

        package init(url: String, tokenFile: String? = nil) {
            self.url = url
            self.tokenFile = tokenFile
        }
    }

    package struct Instance: Sendable, Hashable {
        package var endpoint: String
        /// The time in seconds after which the service counts as missing.
        package var timeout: Int
        /// The number of requests before that.
        package var attempts: Int

        package init(endpoint: String, timeout: Int = 1, attempts: Int = 1) {
            self.endpoint = endpoint
            self.timeout = timeout
            self.attempts = attempts
        }
    }

    /// The file whose text the question needs; `nil` for none.
    package var file: String? {
        switch self {
        case .webIdentity(let identity): identity.tokenFile
        case .singleSignOn(let signOn): signOn.cache
        case .container(let container): container.tokenFile
        case .process, .instance, .assumedRole: nil
        }
    }
}

extension S3CredentialSource: CustomStringConvertible {
    /// The name of the source in messages.
    package var description: String {
        switch self {
        case .process(let process): "credential_process of the profile \(process.profile)"
        case .webIdentity(let identity): "the web identity of \(identity.role)"
        case .assumedRole(let role): "the role \(role.role)"
        case .singleSignOn(let signOn): "IAM Identity Center for the role \(signOn.role)"
        case .container(let container): "the container's role at \(Redaction.url(container.url))"
        case .instance(let instance): "the instance's role at \(Redaction.url(instance.endpoint))"
        }
    }
}

/// The decision where credentials come from.
package enum S3CredentialPlan: Sendable, Hashable {
    /// The credentials are there.
    case known(S3Credentials)
    /// A source has to be asked; `searched` names the places that had none.
    case asked(S3CredentialSource, searched: [String])

    /// The ID of the key that is there; `nil` where a source has to be asked.
    package var accessKey: String? {
        if case .known(let credentials) = self { credentials.accessKey } else { nil }
    }
}

/// Temporary credentials with the time of their end.
package struct S3CredentialLease: Sendable, Hashable {
    package var credentials: S3Credentials
    /// The end in seconds since 1970; `nil` for credentials without one.
    package var expires: Int64?

    /// The seconds before the end from which new credentials are asked for. Metadata services have new ones at least
    /// five minutes before the old ones end.
    package static let renewal: Int64 = 300

    /// The codes of errors about credentials that have ended.
    package static let codesOfExpiry: Set<String> = ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"]

    package init(credentials: S3Credentials, expires: Int64? = nil) {
        self.credentials = credentials
        self.expires = expires
    }

    /// Whether a server accepts the credentials at a time, by this machine's clock.
    package func isUsable(now: Int64) -> Bool { expires.map { now < $0 } ?? true }

    /// Whether new credentials should be asked for.
    package func isDue(now: Int64) -> Bool { expires.map { $0 - now <= Self.renewal } ?? false }
}
