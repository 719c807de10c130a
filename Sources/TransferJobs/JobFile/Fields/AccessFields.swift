import TransferCore
import TransferUpload

/// The keys for requests to servers, and for logins.
package enum AccessFields {
    package static let s3 = ObjectFields<JobSettings.S3Access>(
        [
            Field(
                "endpoint", \.endpoint, .endpoint,
                "The server, and the path above its buckets where they are not at its root."),
            Field("region", \.region, .name("the region"), "The region of the buckets."),
            Field("style", \.style, .word, "The place in requests that names the bucket."),
            Field("profile", \.profile, .name("the name"), "The profile in the files of the AWS tools."),
            Field(
                "integrity", \.integrity, .word, standard: #""sha256""#,
                "The proof to the server that it got the bytes that were read."),
            Field(secret: "accessKey", \.accessKey, .named(), mustBeNamed: false, "The ID of the access key."),
            Field(secret: "secretKey", \.secretKey, .secret("a secret key"), "The secret access key."),
            Field(secret: "sessionToken", \.sessionToken, .secret("a token"), "The token of a session."),
        ],
        schema: #""oneOf": [{ "required": ["accessKey", "secretKey"] }, "#
            + #"{ "properties": { "accessKey": false, "secretKey": false } }]"#)

    package static let ssh = ObjectFields<JobSettings.SSHAccess>([
        Field(
            "config", \.config, .path, standard: #""~/.ssh/config""#,
            "The only file to read of ssh's configuration; /dev/null for none. /etc/ssh/ssh_config counts by default too."
        ),
        Field("user", \.user, .name("the name"), "The user who logs in where auth names no user."),
        Field(
            "knownHosts", \.knownHosts, .path, standard: #""~/.ssh/known_hosts""#,
            "The file with the keys of known servers."),
        Field(
            "hostKey", \.hostKey,
            .text(schema: #""type": "string", "pattern": "^SHA256:[A-Za-z0-9+/]{43}$""#, HostKeyRule.refusal(of:)),
            "The only key that the server may have, as ssh-keygen -lf shows it."),
        Field(
            "key", \.key, .path,
            "The private key. By default, the first of ~/.ssh/id_ed25519, id_ecdsa and id_rsa is used."),
        Field(secret: "keyPassphrase", \.keyPassphrase, .secret("a passphrase"), "The passphrase of an encrypted key."),
        Field(
            "agent", \.agent, .boolean,
            "Whether the agent's keys are used. By default, they are used where SSH_AUTH_SOCK names an agent."),
    ])

    package static let ftp = ObjectFields<JobSettings.FTPAccess>([
        Field(
            "requireTLS", \.requireTLS, .boolean, standard: false,
            "Whether TLS is required for ftp:// too (AUTH TLS)."),
        Field("active", \.active, .boolean, standard: false, "Whether the server makes the data connections."),
    ])

    /// A proxy: a URL, or an object with a URL and credentials.
    package static let proxy = Field<JobSettings>(
        FieldNote(
            "The proxy, as a URL of http, https, socks5 or socks5h, or as an object. With null or an empty URL no "
                + "proxy is used, not even a proxy of the environment.",
            schema: ##""anyOf": [{ "const": "" }, { "$ref": "#/$defs/proxyURL" }, { "$ref": "#/$defs/proxyObject" }]"##,
            object: credentialedProxy.note("proxyObject")),
        FieldOutput(
            "proxy",
            secrets: FieldSecrets { settings in
                settings.proxy?.credentials.map { [$0.user, $0.password] } ?? []
            } isWrittenOut: { settings in
                guard let proxy = settings.proxy else { return false }
                return Redaction.hasSecret(proxy.url) || proxy.credentials?.password.isWrittenOut == true
            } redact: { settings in
                guard let proxy = settings.proxy else { return }
                settings.proxy?.url = Redaction.url(proxy.url)
                if proxy.credentials?.password.isLiteral == true { settings.proxy?.credentials?.password = .blank }
            }
        ) { writer, settings in
            guard let proxy = settings.proxy else { return }
            if !proxy.isOfEnvironment { writer.key("proxy") }
            if proxy.isOfEnvironment {
                // The job names only exceptions, and no proxy.
            } else if let credentials = proxy.credentials {
                let draft = ProxyDraft(url: proxy.url, user: credentials.user, password: credentials.password)
                credentialedProxy.write(&writer, draft)
            } else {
                writer.string(proxy.url)
            }
            writer.member(JobKey.noProxy, proxy.noProxy)
        }, copy: { $0.proxy = $1.proxy },
        // Without a value, the environment's proxy would apply.
        unset: { $0.proxy = JobSettings.Proxy(url: "") }
    ) { (decoder, settings) throws(JSONFault) in try ConnectionDecoder.proxy(&decoder, into: &settings.proxy) }

    /// The values of a proxy with credentials while its keys are read.
    package struct ProxyDraft: Sendable {
        package var url: String?
        package var user: SecretText?
        package var password: SecretText?
    }

    package static let credentialedProxy = ObjectFields<ProxyDraft>(
        [
            Field("url", \.url, .proxyURL, "The URL of the proxy."),
            Field(secret: "user", \.user, .user, mustBeNamed: false, "The user who logs in to the proxy."),
            Field(secret: "password", \.password, .secret("a password"), "The user's password."),
        ],
        schema: #""required": ["url"], "oneOf": [{ "required": ["user", "password"] }, "#
            + #"{ "properties": { "user": false, "password": false } }]"#)

    package static let auth = Field<JobSettings>(
        FieldNote("The credentials for the server: user and password, bearer, or netrc.", credentials.note("auth")),
        FieldOutput(
            "auth",
            secrets: FieldSecrets { settings in
                switch settings.auth {
                case nil, .netrc(nil, _): []
                case .netrc(let user?, _): [user]
                case .bearer(let token): [token]
                case .basic(let user, let password): [user, password]
                }
            } isWrittenOut: { settings in
                switch settings.auth {
                case nil, .netrc: false
                case .bearer(let token): token.isWrittenOut
                case .basic(_, let password): password.isWrittenOut
                }
            } redact: { settings in
                switch settings.auth {
                case .bearer(.literal): settings.auth = .bearer(.blank)
                case .basic(let user, .literal): settings.auth = .basic(user: user, password: .blank)
                default: break
                }
            }
        ) { writer, settings in
            guard let auth = settings.auth else { return }
            writer.key("auth")
            credentials.write(&writer, AuthDraft(auth))
        }, copy: { $0.auth = $1.auth }
    ) { (decoder, settings) throws(JSONFault) in
        if let auth = try ConnectionDecoder.auth(&decoder) { settings.auth = auth }
    }

    /// The choice of a netrc file.
    package enum NetrcWord: Sendable, Hashable {
        case off
        /// The user's own file, `~/.netrc`.
        case own
        case file(String)
    }

    /// The values of an `auth` while its keys are read.
    package struct AuthDraft: Sendable {
        package var netrc: NetrcWord?
        package var user: SecretText?
        package var password: SecretText?
        package var bearer: SecretText?

        package init() {}

        fileprivate init(_ auth: JobSettings.Auth) {
            switch auth {
            case .netrc(let user, let file):
                netrc = file.map { .file($0) } ?? .own
                self.user = user
            case .bearer(let token): bearer = token
            case .basic(let user, let password): (self.user, self.password) = (user, password)
            }
        }
    }

    package static let credentials = ObjectFields<AuthDraft>(
        [
            Field(
                "netrc", \.netrc, .netrc,
                "Whether the entries of ~/.netrc are used, or the path of another such file. A user beside it selects "
                    + "one of several entries of the machine."
            ),
            Field(secret: "user", \.user, .user, mustBeNamed: false, "The user who logs in."),
            Field(secret: "password", \.password, .secret("a password"), "The user's password."),
            Field(secret: "bearer", \.bearer, .secret("a token"), "A token, sent as Authorization: Bearer."),
        ],
        schema:
            #""oneOf": [{ "required": ["netrc"] }, { "required": ["bearer"] }, { "required": ["user", "password"] }]"#)
}

extension FieldCodec<String> {
    fileprivate static var endpoint: Self {
        Self(
            schema: #""type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@]+(/[^\\s?#]*)?$""#
        ) { decoder throws(JSONFault) in try ConnectionDecoder.endpoint(&decoder) }
    }

    fileprivate static var proxyURL: Self {
        Self(schema: ##""$ref": "#/$defs/proxyURL""##) { decoder throws(JSONFault) in
            try ConnectionDecoder.proxyURL(&decoder, mayBeEmpty: false)
        }
    }
}

extension FieldCodec<AccessFields.NetrcWord> {
    fileprivate static var netrc: Self {
        Self(schema: ##""anyOf": [{ "type": "boolean" }, { "$ref": "#/$defs/path" }]"##) {
            decoder throws(JSONFault) in
            try ConnectionDecoder.netrc(&decoder)
        } write: { writer, word in
            switch word {
            case .off: writer.boolean(false)
            case .own: writer.boolean(true)
            case .file(let path): writer.string(path)
            }
        }
    }
}

extension FieldCodec<SecretText> {
    /// A user's name.
    fileprivate static var user: Self {
        named(schema: #""type": "string", "pattern": "^[^:]*$""#) { HeaderRule.refusal(ofUser: $0) }
    }
}
