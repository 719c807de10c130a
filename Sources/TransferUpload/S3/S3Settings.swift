public import TransferCore

/// The credentials, region and endpoint of the AWS tools: from the environment, then from the profile's files.
///
/// See "Settings reference" of the AWS SDKs and Tools guide. The type reads nothing itself: the program passes
/// closures. Roles, single sign-on and the metadata services of cloud machines are not supported.
public struct S3Settings: Sendable {
    private let profile: String?
    private let environment: @Sendable (String) -> String?
    private let readFile: @Sendable (String) -> String?

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

    /// Returns the credentials.
    ///
    /// - Parameter explicit: Credentials that are returned unchanged, if present.
    /// - Throws: `TransferError` of `.secretMissing` with the places that were searched.
    public func credentials(explicit: S3Credentials? = nil) throws(TransferError) -> S3Credentials {
        if let explicit { return explicit }
        if profile == nil, let found = try fromEnvironment() { return found }
        let name = profileName
        let files = [(credentialsPath, AWSProfiles.Kind.credentials), (configPath, .config)]
        var looked = profile == nil ? ["AWS_ACCESS_KEY_ID in the environment"] : []
        for (path, kind) in files {
            guard let path else { continue }
            guard let text = readFile(path) else {
                looked.append("\(path) (cannot be read)")
                continue
            }
            guard let settings = AWSProfiles(text, kind).settings[name] else {
                looked.append("\(path) (has no profile \(name))")
                continue
            }
            if let found = try Self.credentials(settings, name, path) { return found }
            looked.append("profile \(name) in \(path) (has no aws_access_key_id)")
        }
        if credentialsPath == nil || configPath == nil { looked.append("HOME, which is not set") }
        throw TransferError(.secretMissing, "no S3 credentials; looked at \(looked.joined(separator: ", "))")
    }

    /// The region: AWS_REGION, AWS_DEFAULT_REGION, or the profile's.
    public var region: String? {
        value("AWS_REGION") ?? value("AWS_DEFAULT_REGION") ?? setting("region")
    }

    /// The endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or the profile's.
    public var endpoint: String? {
        value("AWS_ENDPOINT_URL_S3") ?? value("AWS_ENDPOINT_URL") ?? setting("endpoint_url")
    }

    private var profileName: String { profile ?? value("AWS_PROFILE") ?? value("AWS_DEFAULT_PROFILE") ?? "default" }
    private var credentialsPath: String? { path("AWS_SHARED_CREDENTIALS_FILE", "credentials") }
    private var configPath: String? { path("AWS_CONFIG_FILE", "config") }

    private func fromEnvironment() throws(TransferError) -> S3Credentials? {
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

    private static func credentials(
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
        let others = ["role_arn", "credential_process", "sso_session", "sso_start_url", "web_identity_token_file"]
        if let other = others.first(where: { setting($0) != nil }) {
            throw TransferError(
                .secretMissing,
                "profile \(profile) in \(path) gets its credentials by \(other), which is not supported: put those that "
                    + "`aws configure export-credentials` prints into the environment")
        }
        return nil
    }

    /// Returns a setting of the profile in the config file, or else in the credentials file.
    private func setting(_ name: String) -> String? {
        for (path, kind) in [(configPath, AWSProfiles.Kind.config), (credentialsPath, .credentials)] {
            guard let text = path.flatMap(readFile),
                let value = AWSProfiles(text, kind).settings[profileName]?[name], !value.isEmpty
            else { continue }
            return value
        }
        return nil
    }

    private func path(_ variable: String, _ file: String) -> String? {
        let home = value("HOME")
        guard let path = value(variable) else { return home.map { "\($0)/.aws/\(file)" } }
        guard path.hasPrefix("~/") else { return path }
        return home.map { $0 + path.dropFirst() }
    }

    /// Returns a variable without surrounding white space, which values from files have; an empty one counts as unset.
    private func value(_ variable: String) -> String? {
        guard let text = environment(variable) else { return nil }
        let start = text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(start[...last])
    }
}
