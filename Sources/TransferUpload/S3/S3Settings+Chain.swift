package import TransferCore
import TransferCrypto

// The order of the places where credentials are looked for: that of the AWS CLI ("Configuration and credentials
// precedence" of its user guide).
extension S3Settings {
    /// Returns the credentials, or the source that gives them: the job's own keys, the environment's, a web identity, the
    /// profile (web identity, IAM Identity Center, keys, `credential_process`), the container's role, the instance's.
    ///
    /// - Parameter explicit: Credentials that are returned unchanged, if present.
    /// - Throws: `TransferError` of `.secretMissing` with the places that were searched, or with the fault of one.
    package func plan(explicit: S3Credentials? = nil) throws(TransferError) -> S3CredentialPlan {
        if let explicit { return .known(explicit) }
        var searched: [String] = []
        if profile == nil {
            if let found = try fromEnvironment() { return .known(found) }
            searched.append("AWS_ACCESS_KEY_ID in the environment")
            if let identity = try webIdentity() { return .asked(identity, searched: searched) }
        }
        if let found = try fromProfile(&searched) { return found }
        if let container = try container() { return .asked(container, searched: searched) }
        guard mayUseInstance, value("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" else {
            throw Self.missing(searched)
        }
        return .asked(.instance(instance), searched: searched)
    }

    package static func missing(_ searched: [String]) -> TransferError {
        TransferError(.secretMissing, "no S3 credentials; looked at \(searched.joined(separator: ", "))")
    }

    // MARK: The profile

    private func fromProfile(_ searched: inout [String]) throws(TransferError) -> S3CredentialPlan? {
        let name = profileName
        var isKnown = false
        let read = [(credentialsPath, AWSProfiles.Kind.credentials), (configPath, .config)].map { path, kind in
            (path: path, settings: path.flatMap { file in readFile(file).map { AWSProfiles($0, kind).settings[name] } })
        }
        let merged = self.merged(name)
        if let source = try roleOfProfile(merged, name) { return .asked(source, searched: searched) }
        for (index, file) in read.enumerated() {
            // The process precedes the keys of the config file, and follows those of the credentials file.
            if index == 1, let source = try process(merged, name) { return .asked(source, searched: searched) }
            guard let path = file.path else { continue }
            guard let found = file.settings else {
                searched.append("\(path) (cannot be read)")
                continue
            }
            guard let settings = found else {
                searched.append("\(path) (has no profile \(name))")
                continue
            }
            isKnown = true
            if let keys = try Self.credentials(settings, name, path) { return .known(keys) }
            searched.append("profile \(name) in \(path) (has no aws_access_key_id)")
        }
        if credentialsPath == nil || configPath == nil { searched.append("HOME, which is not set") }
        // A profile that is named and does not exist is a slip, and no reason to use a machine's role.
        guard isKnown || !namesProfile else { throw Self.missing(searched) }
        return nil
    }

    /// Returns the role that a profile names.
    ///
    /// - Throws: `secretMissing` for settings that contradict each other or need a person.
    private func roleOfProfile(
        _ settings: [String: String], _ name: String
    ) throws(TransferError) -> S3CredentialSource? {
        func setting(_ key: String) -> String? { settings[key].flatMap { $0.isEmpty ? nil : $0 } }
        if let role = setting("role_arn") {
            guard let file = setting("web_identity_token_file") else { return try assumedRole(settings, role, name) }
            return webIdentity(role, absolute(file), setting("role_session_name"))
        }
        let region = setting("sso_region")
        guard setting("sso_session") != nil || setting("sso_start_url") != nil else { return nil }
        let account = setting("sso_account_id")
        let role = setting("sso_role_name")
        // A profile without both has the sign-in for its token alone, and its credentials elsewhere.
        if account == nil, role == nil { return nil }
        guard let account, let role else {
            let missing = account == nil ? "sso_account_id" : "sso_role_name"
            throw Self.fault(name, "has IAM Identity Center, but no \(missing)")
        }
        var (key, place) = (setting("sso_start_url"), region)
        if let session = setting("sso_session") {
            let text = configPath.flatMap(readFile) ?? ""
            guard let own = AWSProfiles(text, .config).sessions[session] else {
                throw Self.fault(name, "names the sso_session \(session), which the config file does not have")
            }
            (key, place) = (session, own["sso_region"])
        }
        guard let key, let place, !place.isEmpty, let home = value("HOME") else {
            throw Self.fault(name, "has IAM Identity Center, but no sso_region")
        }
        let hash = try Digest.of(Array(key.utf8), .sha1).hex
        return .singleSignOn(
            S3CredentialSource.SingleSignOn(
                endpoint: service("AWS_ENDPOINT_URL_SSO") ?? Self.host("portal.sso", in: place), account: account,
                role: role, cache: "\(home)/.aws/sso/cache/\(hash).json", login: "AWS_PROFILE=\(name) aws sso login"))
    }

    /// Returns a role with the place of the credentials that assume it ("Assume role credential provider" of the AWS SDKs
    /// and Tools guide).
    private func assumedRole(
        _ settings: [String: String], _ role: String, _ name: String
    ) throws(TransferError) -> S3CredentialSource? {
        func setting(_ key: String) -> String? { settings[key].flatMap { $0.isEmpty ? nil : $0 } }
        guard setting("mfa_serial") == nil else {
            throw Self.fault(
                name,
                "asks for a code (mfa_serial): put the credentials that `aws configure export-credentials` prints into "
                    + "the environment")
        }
        let base: S3CredentialSource.AssumedRole.Base
        switch (setting("source_profile"), setting("credential_source")?.lowercased()) {
        case (let source?, nil):
            // A profile that names itself assumes the role with its own keys.
            if source == name, setting("aws_access_key_id") == nil {
                throw Self.fault(name, "is its own source_profile, and has no keys")
            }
            base = .profile(source)
        case (nil, "environment"?): base = .environment
        case (nil, "ecscontainer"?): base = .container
        case (nil, "ec2instancemetadata"?): base = .instance
        default: throw Self.fault(name, "has a role_arn, and needs either a source_profile or a credential_source")
        }
        let region = self.region ?? "us-east-1"
        return .assumedRole(
            S3CredentialSource.AssumedRole(
                endpoint: service("AWS_ENDPOINT_URL_STS") ?? Self.host("sts", in: region), region: region, role: role,
                session: setting("role_session_name") ?? "transfer", externalID: setting("external_id"),
                duration: setting("duration_seconds").flatMap { Int($0) }, base: base))
    }

    /// Returns where the credentials come from that assume a role.
    ///
    /// - Throws: `secretMissing` where the place has none.
    package func plan(
        base: S3CredentialSource.AssumedRole.Base, of role: String
    ) throws(TransferError) -> S3CredentialPlan {
        switch base {
        case .profile(let name):
            let own = S3Settings(profile: name, environment: environment, readFile: readFile)
            var searched: [String] = []
            // The profile that has the role gives its keys, and not the role again.
            let merged = own.merged(name)
            if merged["role_arn"] == role, let keys = try Self.credentials(merged, name, "its files") {
                return .known(keys)
            }
            guard let plan = try own.fromProfile(&searched) else { throw Self.missing(searched) }
            return plan
        case .environment:
            guard let found = try fromEnvironment() else {
                throw Self.missing(["AWS_ACCESS_KEY_ID in the environment"])
            }
            return .known(found)
        case .container:
            guard let found = try container() else {
                throw Self.missing(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI in the environment"])
            }
            return .asked(found, searched: [])
        case .instance: return .asked(.instance(instance), searched: [])
        }
    }

    /// Returns the settings of a profile in both files; those of the credentials file take precedence.
    private func merged(_ name: String) -> [String: String] {
        func settings(_ path: String?, _ kind: AWSProfiles.Kind) -> [String: String] {
            path.flatMap(readFile).flatMap { AWSProfiles($0, kind).settings[name] } ?? [:]
        }
        return settings(configPath, .config).merging(settings(credentialsPath, .credentials)) { $1 }
    }

    private func process(_ settings: [String: String], _ name: String) throws(TransferError) -> S3CredentialSource? {
        guard let line = settings["credential_process"], !line.isEmpty else { return nil }
        guard let arguments = CommandWords.split(line), !arguments.isEmpty else {
            throw Self.fault(name, "has a credential_process with an open quote or no program")
        }
        return .process(S3CredentialSource.Process(profile: name, arguments: arguments))
    }

    // MARK: Web identity

    private func webIdentity() throws(TransferError) -> S3CredentialSource? {
        guard let file = value("AWS_WEB_IDENTITY_TOKEN_FILE") else { return nil }
        guard let role = value("AWS_ROLE_ARN") else {
            throw TransferError(
                .secretMissing, "AWS_WEB_IDENTITY_TOKEN_FILE is set in the environment, but AWS_ROLE_ARN is not")
        }
        return webIdentity(role, file, value("AWS_ROLE_SESSION_NAME"))
    }

    private func webIdentity(_ role: String, _ file: String, _ session: String?) -> S3CredentialSource {
        .webIdentity(
            S3CredentialSource.WebIdentity(
                endpoint: service("AWS_ENDPOINT_URL_STS") ?? region.map { Self.host("sts", in: $0) }
                    ?? "https://sts.amazonaws.com",
                role: role, session: session ?? "transfer", tokenFile: file))
    }

    /// Returns the endpoint of a service that the environment names.
    private func service(_ variable: String) -> String? {
        guard var url = value(variable) ?? value("AWS_ENDPOINT_URL") else { return nil }
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }

    private static func host(_ service: String, in region: String) -> String {
        "https://\(service).\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    }

    // MARK: Containers and machines

    /// - Throws: `secretMissing` for a URL whose host may not see the token.
    private func container() throws(TransferError) -> S3CredentialSource? {
        let file = value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if let path = value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard path.hasPrefix("/") else {
                throw TransferError(
                    .secretMissing, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI has to begin with a slash")
            }
            return .container(S3CredentialSource.Container(url: "http://169.254.170.2" + path, tokenFile: file))
        }
        guard let url = value("AWS_CONTAINER_CREDENTIALS_FULL_URI") else { return nil }
        guard let origin = Origin(url: url) else {
            throw TransferError(.secretMissing, "AWS_CONTAINER_CREDENTIALS_FULL_URI is no http or https URL")
        }
        guard origin.scheme == "https" || Self.isOfContainer(origin.host) else {
            throw TransferError(
                .secretMissing,
                "AWS_CONTAINER_CREDENTIALS_FULL_URI names \(origin.host) without TLS: http is for this machine, "
                    + "169.254.170.2, 169.254.170.23 and [fd00:ec2::23] only")
        }
        return .container(S3CredentialSource.Container(url: url, tokenFile: file))
    }

    /// Whether a host is one of "Container credential provider" of the AWS SDKs and Tools guide: this machine, or the
    /// services of ECS and EKS.
    static func isOfContainer(_ host: String) -> Bool {
        let host = host.lowercased().filter { $0 != "[" && $0 != "]" }
        if ["localhost", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"].contains(host) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private var instance: S3CredentialSource.Instance {
        let mode = value("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") ?? setting("ec2_metadata_service_endpoint_mode")
        var endpoint =
            value("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? setting("ec2_metadata_service_endpoint")
            ?? (mode?.lowercased() == "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254")
        while endpoint.hasSuffix("/") { endpoint.removeLast() }
        func number(_ variable: String, _ key: String, upTo most: Int) -> Int {
            (value(variable) ?? setting(key)).flatMap { Int($0) }.map { min(max($0, 1), most) } ?? 1
        }
        return S3CredentialSource.Instance(
            endpoint: endpoint,
            timeout: number("AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout", upTo: 60),
            attempts: number("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts", upTo: 10))
    }

    private static func fault(_ profile: String, _ message: String) -> TransferError {
        TransferError(.secretMissing, "the profile \(profile) \(message)")
    }
}

/// The words of a command line without a shell, as `credential_process` has them: blanks separate words, quotes of both
/// kinds keep them together, and a backslash takes the next character as it is, though not within single quotes.
enum CommandWords {
    /// Returns the words; `nil` for an open quote.
    static func split(_ line: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word { words.append(word) }
        return words
    }
}
