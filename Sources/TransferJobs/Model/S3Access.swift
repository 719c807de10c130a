package import TransferCore
package import TransferUpload

extension JobSettings {
    /// How the server of `s3://bucket/key` URLs is spoken to. What isn't said here is taken from where the AWS tools look:
    /// the environment, and the files of a profile.
    public struct S3Access: Sendable, Hashable {
        /// `https://host[:port][/path]` or `http://…`, with buckets beneath the path; AWS when nothing names one.
        public var endpoint: String?
        public var region: String?
        public var style: Style?
        /// Of the AWS tools' files.
        public var profile: String?
        /// Both keys, or neither.
        public var accessKey: SecretText?
        public var secretKey: SecretText?
        public var sessionToken: SecretText?
        /// What proves to the server that it got what was read.
        public var integrity: Integrity?

        public init() {}

        /// Why a text can't be an ``endpoint``; `nil` for one that can.
        public static func refusal(ofEndpoint text: String) -> String? { S3Location.refusal(ofEndpoint: text) }

        /// Where requests name the bucket.
        public enum Style: String, Sendable, Hashable, CaseIterable {
            case path
            case virtualHost = "virtual-host"
        }

        public enum Integrity: String, Sendable, Hashable, CaseIterable {
            /// Nothing but TLS; the source is read once only.
            case none
            case md5
            /// In each request's signature (the default).
            case sha256
            /// The same, and the server keeps it beside the object.
            case storedSHA256 = "stored-sha256"
        }
    }
}

extension JobSettings.S3Access {
    /// The object of a URL, as the program's environment completes what isn't said here.
    package func location(_ url: String, _ secrets: SecretSource) throws(TransferError) -> S3Location {
        let tools = tools(secrets)
        return try S3Location(
            url, endpoint: endpoint ?? tools.endpoint, region: region ?? tools.region ?? "us-east-1",
            style: style.map { $0 == .path ? .path : .virtualHost })
    }

    package func credentials(_ secrets: SecretSource) throws(TransferError) -> S3Credentials {
        var explicit: S3Credentials?
        if let accessKey, let secretKey {
            explicit = S3Credentials(
                accessKey: try secrets.read(accessKey), secret: try secrets.read(secretKey),
                sessionToken: try sessionToken.map { text throws(TransferError) in try secrets.read(text) })
        }
        return try tools(secrets).credentials(explicit: explicit)
    }

    private func tools(_ secrets: SecretSource) -> S3Settings {
        S3Settings(profile: profile, environment: { secrets.variable($0) }, readFile: { SecretSource.text(of: $0) })
    }
}

extension JobSettings {
    /// Who is spoken to for a URL; of an object's that its endpoint.
    package func origin(of url: String, _ secrets: SecretSource) -> Origin? {
        guard let find = JobSpec.UploadProtocol.of(url: url)?.entry.origin else { return Origin(anyURL: url) }
        return find(url, self, secrets)
    }
}

/// Which URLs name objects in S3's way.
package enum S3URL {
    package static func isOne(_ url: String) -> Bool {
        // For each of a million jobs: the others begin with another letter.
        guard let first = url.utf8.first, "sS".utf8.contains(first) else { return false }
        return url.utf8.count > 5 && url.prefix(5).lowercased() == "s3://"
    }
}
