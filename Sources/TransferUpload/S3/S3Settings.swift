public import TransferCore

/// The credentials, region and endpoint of the AWS tools: from the environment, then from the profile's files.
///
/// See "Settings reference" of the AWS SDKs and Tools guide. The type reads nothing itself: the program passes
/// closures. It names the source of credentials that expire, and a queue asks that source.
public struct S3Settings: Sendable {
    let profile: String?
    let environment: @Sendable (String) -> String?
    let readFile: @Sendable (String) -> String?
    /// Whether the role of a virtual machine is one of the places.
    package var mayUseInstance = true

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - profile: The name of the profile, which takes precedence over the environment; `nil` uses the environment,
    ///     and then AWS_PROFILE.
    ///   - environment: A closure that returns the value of a variable.
    ///   - readFile: A closure that returns the text of a file by its absolute path; `nil` when it is missing or
    ///     unreadable.
    public init(
        profile: String? = nil, environment: @escaping @Sendable (String) -> String?,
        readFile: @escaping @Sendable (String) -> String?
    ) {
        self.profile = profile
        self.environment = environment
        self.readFile = readFile
    }

    /// Returns the credentials, where no source has to be asked for them.
    ///
    /// - Parameter explicit: Credentials that are returned unchanged, if present.
    /// - Throws: `TransferError` of `.secretMissing` with the places that were searched, or with the source that a queue
    ///   would ask.
    public func credentials(explicit: S3Credentials? = nil) throws(TransferError) -> S3Credentials {
        switch try plan(explicit: explicit) {
        case .known(let credentials): return credentials
        case .asked(.instance, let searched): throw Self.missing(searched)
        case .asked(let source, _):
            throw TransferError(.secretMissing, "the S3 credentials come from \(source), which only a queue asks")
        }
    }

    /// The region: AWS_REGION, AWS_DEFAULT_REGION, or the profile's.
    public var region: String? {
        value("AWS_REGION") ?? value("AWS_DEFAULT_REGION") ?? setting("region")
    }

    /// The endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or the profile's.
    public var endpoint: String? {
        value("AWS_ENDPOINT_URL_S3") ?? value("AWS_ENDPOINT_URL") ?? setting("endpoint_url")
    }

    var profileName: String { profile ?? value("AWS_PROFILE") ?? value("AWS_DEFAULT_PROFILE") ?? "default" }
    /// Whether the job or the environment names a profile.
    var namesProfile: Bool { profile != nil || value("AWS_PROFILE") != nil || value("AWS_DEFAULT_PROFILE") != nil }
    var credentialsPath: String? { path("AWS_SHARED_CREDENTIALS_FILE", "credentials") }
    var configPath: String? { path("AWS_CONFIG_FILE", "config") }

    func fromEnvironment() throws(TransferError) -> S3Credentials? {
        let key = value("AWS_ACCESS_KEY_ID")
        let secret = value("AWS_SECRET_ACCESS_KEY")
        guard let key, let secret else {
            guard key == nil, secret == nil else {
                let (there, missing) =
                    key == nil
                    ? ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID") : ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
                throw TransferError(.secretMissing, "\(there) is set in the environment, but \(missing) is not")
            }
            return nil
        }
        return S3Credentials(accessKey: key, secret: secret, sessionToken: value("AWS_SESSION_TOKEN"))
    }

    static func credentials(
        _ settings: [String: String], _ profile: String, _ path: String
    ) throws(TransferError) -> S3Credentials? {
        func setting(_ name: String) -> String? { settings[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let key = setting("aws_access_key_id") {
            guard let secret = setting("aws_secret_access_key") else {
                throw TransferError(
                    .secretMissing, "profile \(profile) in \(path) has aws_access_key_id but no aws_secret_access_key")
            }
            return S3Credentials(accessKey: key, secret: secret, sessionToken: setting("aws_session_token"))
        }
        return nil
    }

    /// Returns a setting of the profile in the config file, or else in the credentials file.
    func setting(_ name: String) -> String? {
        for (path, kind) in [(configPath, AWSProfiles.Kind.config), (credentialsPath, .credentials)] {
            guard let text = path.flatMap(readFile),
                let value = AWSProfiles(text, kind).settings[profileName]?[name], !value.isEmpty
            else { continue }
            return value
        }
        return nil
    }

    private func path(_ variable: String, _ file: String) -> String? {
        guard let path = value(variable) else { return value("HOME").map { "\($0)/.aws/\(file)" } }
        guard path.hasPrefix("~/") else { return path }
        return value("HOME").map { $0 + path.dropFirst() }
    }

    /// Returns a path with the home folder in place of `~`.
    func absolute(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = value("HOME") else { return path }
        return home + path.dropFirst()
    }

    /// Returns a variable without surrounding white space, which values from files have; an empty one counts as unset.
    func value(_ variable: String) -> String? {
        guard let text = environment(variable) else { return nil }
        let start = text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(start[...last])
    }
}
