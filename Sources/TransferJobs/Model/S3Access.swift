package import TransferCore
import TransferEventLoop
package import TransferUpload

extension JobSettings {
    /// The access to the server of `s3://bucket/key` URLs. Values that are `nil` come from the places where the AWS
    /// tools look: the environment, and the files of a profile.
    public struct S3Access: Sendable, Hashable {
        /// The server's URL, `https://host[:port][/path]` or `http://…`, with the buckets beneath the path. AWS is used
        /// where nothing names one.
        public var endpoint: String?
        /// The region; `nil` uses that of the AWS tools, or `us-east-1`.
        public var region: String?
        /// The place of the bucket's name in requests.
        public var style: Style?
        /// The profile in the AWS tools' files.
        public var profile: String?
        /// The access key; set both keys, or neither.
        public var accessKey: SecretText?
        /// The secret access key.
        public var secretKey: SecretText?
        /// The session token of temporary credentials.
        public var sessionToken: SecretText?
        /// The method by which the server verifies the data that it received.
        public var integrity: Integrity?

        /// Creates an access with the defaults.
        public init() {}

        /// Explains why a text cannot be an ``endpoint``; `nil` for a valid one.
        public static func refusal(ofEndpoint text: String) -> String? { S3Location.refusal(ofEndpoint: text) }

        /// The place of the bucket's name in requests.
        public enum Style: String, Sendable, Hashable, CaseIterable {
            case path
            case virtualHost = "virtual-host"
        }

        /// The method by which the server verifies the data that it received.
        public enum Integrity: String, Sendable, Hashable, CaseIterable {
            /// Only TLS protects the data, and the source is read only once.
            case none
            case md5
            /// Each request's signature contains the SHA-256 digest of its body (the default).
            case sha256
            /// Each request's signature contains the digest, and the server also stores it with the object.
            case storedSHA256 = "stored-sha256"
        }
    }
}

extension JobSettings.S3Access {
    /// Returns the object of a URL; the program's environment supplies the values that are `nil`.
    package func location(_ url: String, _ secrets: SecretSource) throws(TransferError) -> S3Location {
        let tools = tools(secrets)
        return try S3Location(
            url, endpoint: endpoint ?? tools.endpoint, region: region ?? tools.region ?? "us-east-1",
            style: style.map { $0 == .path ? .path : .virtualHost })
    }

    /// Returns the credentials: those that are there, or those that their source gave.
    ///
    /// - Throws: `secretMissing` where none are there, or where they have expired; the latter is transient.
    package func credentials(_ secrets: SecretSource) throws(TransferError) -> S3Credentials {
        switch try plan(secrets) {
        case .known(let credentials): return credentials
        case .asked(let source, let searched):
            if let current = secrets.leases?.current(source, now: WallClock.seconds) { return current }
            guard secrets.leases != nil else { throw S3Settings.missing(searched) }
            throw TransferError(
                .secretMissing, "the S3 credentials from \(source) have expired", isTransient: true)
        }
    }

    /// Returns a closure with the newest credentials; `nil` for credentials that no source renews.
    package func renewal(_ secrets: SecretSource) throws(TransferError) -> (@Sendable () -> S3Credentials?)? {
        guard case .asked(let source, _) = try plan(secrets), let leases = secrets.leases else { return nil }
        return { leases.newest(source, now: WallClock.seconds) }
    }

    /// Returns the decision where the credentials come from.
    package func plan(_ secrets: SecretSource) throws(TransferError) -> S3CredentialPlan {
        var explicit: S3Credentials?
        if let accessKey, let secretKey {
            explicit = S3Credentials(
                accessKey: try secrets.read(accessKey), secret: try secrets.read(secretKey),
                sessionToken: try sessionToken.map { text throws(TransferError) in try secrets.read(text) })
        }
        return try tools(secrets).plan(explicit: explicit)
    }

    /// Returns where the credentials come from that assume a role of this access.
    package func plan(
        base: S3CredentialSource.AssumedRole.Base, of role: String, _ secrets: SecretSource
    ) throws(TransferError) -> S3CredentialPlan {
        try tools(secrets).plan(base: base, of: role)
    }

    private func tools(_ secrets: SecretSource) -> S3Settings {
        var settings = S3Settings(
            profile: profile, environment: { secrets.variable($0) }, readFile: { SecretSource.text(of: $0) })
        // Without an environment, no variable could forbid the machine's role.
        settings.mayUseInstance = secrets.hasEnvironment
        return settings
    }
}

extension JobSettings {
    /// Returns the origin contacted for a URL; for the URL of an object, that of its endpoint.
    package func origin(of url: String, _ secrets: SecretSource) -> Origin? {
        guard let find = JobSpec.UploadProtocol.of(url: url)?.entry.origin else { return Origin(anyURL: url) }
        return find(url, self, secrets)
    }
}

/// The test for URLs of objects in S3.
package enum S3URL {
    package static func isOne(_ url: String) -> Bool {
        // The fast path matters with a million jobs: other URLs begin with another letter.
        guard let first = url.utf8.first, "sS".utf8.contains(first) else { return false }
        return url.utf8.count > 5 && url.prefix(5).lowercased() == "s3://"
    }
}
