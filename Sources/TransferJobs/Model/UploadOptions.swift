public import TransferCore
package import TransferUpload

extension JobSpec.Upload {
    /// The division of an upload into requests, and the data sent with it. Each protocol uses the options that it
    /// knows.
    public struct Options: Sendable, Hashable {
        /// The maximum number of the source's bytes in one request; `nil` leaves it to the protocol and its server.
        public var chunkSize: Int64?
        /// The number of simultaneous requests, 1 to 64, where the protocol can join parts (`tus`, `s3`); `nil` means
        /// its default.
        public var parallel: Int?
        /// Whether missing folders of the destination are created (WebDAV's MKCOL, FTP, SFTP).
        public var createFolders = false
        /// Whether the file is stored under its own name at once, with a single STOR. Nothing is renamed, and no query
        /// has to succeed (a refusal of FTP's MDTM is ignored). The option is for servers that allow only storing
        /// (`ftp`, `sftp`). Such an upload cannot be continued, readers see the file while it grows, and the remains of
        /// an interrupted attempt are unknown.
        public var inPlace = false
        /// The treatment of a source that has changed since the upload began.
        public var ifChanged = IfChanged.restart
        /// The statuses that confirm the upload: 200 to 299, and 302 and 303 for POST or a form. `nil` means every 2xx,
        /// where 202 waits until the server shows the file. The option is for `put`, `post` and `multipart`.
        public var success: Set<Int>?
        /// The names and values sent with the file: `tus` metadata, or `x-amz-meta-…` of `s3`.
        public var metadata: [Field] = []
        /// The fields of the form before the file, for `multipart`.
        public var fields: [Field] = []
        /// The name of the form's field that contains the file.
        public var fileField = "file"
        /// The options of tus.
        public var tus = Tus()

        /// Creates options with the defaults.
        public init() {}
    }

    /// The features that an upload by tus uses where its server offers them.
    public struct Tus: Sendable, Hashable {
        /// The algorithm of a digest that protects each chunk (the extension `checksum`); a damaged chunk is sent
        /// again. A chunk then has 64 MiB, unless ``JobSpec/Upload/Options/chunkSize`` sets another size.
        public var checksum: DigestAlgorithm?
        /// Whether the first chunk is sent with the creation (`creation-with-upload`), which saves a round trip. It
        /// does not apply to uploads whose chunks have a ``checksum``. Where the response is lost, the upload begins
        /// anew; if that was its only request, it fails with `mayHaveBeenSent`.
        public var createsWithUpload = false

        /// Creates options without any of the features.
        public init() {}
    }

    /// A name and its value, which may be the name of a secret.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: SecretText

        /// Creates a field.
        public init(name: String, value: SecretText) {
            self.name = name
            self.value = value
        }
    }

    /// The treatment of an upload whose source has changed since it began.
    public enum IfChanged: String, Sendable, Hashable, CaseIterable {
        /// The server's partial data is abandoned, and the new version is sent from its start.
        case restart
        case fail
    }
}

extension JobSpec.Upload {
    /// The rule for the responses that confirm the upload.
    package var receipt: ReceiptRule {
        ReceiptRule(method: method ?? uploadProtocol.entry.method, success: options.success)
    }
}
