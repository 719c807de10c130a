public import TransferCore
package import TransferUpload

extension JobSpec.Upload {
    /// How an upload is cut into requests, and what goes along with it. Each protocol takes what it knows.
    public struct Options: Sendable, Hashable {
        /// Bytes of the source in one request at most; `nil` leaves it to the protocol and its server.
        public var chunkSize: Int64?
        /// Requests at the same time, 1 to 64, where the protocol can join parts (`tus`, `s3`); `nil` is its default.
        public var parallel: Int?
        /// Make the folders of the destination that aren't there (WebDAV's MKCOL, FTP, SFTP).
        public var createFolders = false
        /// One STOR under the file's own name: nothing is renamed, and no question has to be answered (the refusal of FTP's
        /// MDTM is passed over). For servers where one may store files and no more (`ftp`, `sftp`). What is lost: nothing is
        /// gone on with, readers see the file while it grows, and of an attempt that was broken off nobody knows what it
        /// left.
        public var inPlace = false
        public var ifChanged = IfChanged.restart
        /// The statuses that say that the server has the file: 200 to 299, and 302 and 303 of a POST or a form. `nil` is
        /// each 2xx, of which 202 waits until the server shows the file. For `put`, `post` and `multipart`.
        public var success: Set<Int>?
        /// What goes along with the file: `tus` metadata, `x-amz-meta-…` of `s3`.
        public var metadata: [Field] = []
        /// Fields of a form, before the file; for `multipart`.
        public var fields: [Field] = []
        /// The name of the form's field that is the file.
        public var fileField = "file"
        public var tus = Tus()

        public init() {}
    }

    /// What an upload by tus asks of servers that offer it; the others do without.
    public struct Tus: Sendable, Hashable {
        /// Each chunk is protected by a digest of this algorithm (the extension `checksum`): one that was damaged on its
        /// way is sent again. A chunk has 64 MiB then, unless ``JobSpec/Upload/Options/chunkSize`` says otherwise.
        public var checksum: DigestAlgorithm?
        /// The first chunk goes along with the creation (`creation-with-upload`): a round trip less; not of an upload
        /// whose chunks have a ``checksum``. Where the answer to that is lost, the upload begins anew, and one whose only
        /// request it was fails with `mayHaveBeenSent`.
        public var createsWithUpload = false

        public init() {}
    }

    /// A name and its value.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: SecretText

        public init(name: String, value: SecretText) {
            self.name = name
            self.value = value
        }
    }

    /// What becomes of an upload whose source is another one than when it began.
    public enum IfChanged: String, Sendable, Hashable, CaseIterable {
        /// What the server has is given up, and the new version is sent from its start.
        case restart
        case fail
    }
}

extension JobSpec.Upload {
    /// What is a receipt for it.
    package var receipt: ReceiptRule {
        ReceiptRule(method: method ?? uploadProtocol.entry.method, success: options.success)
    }
}
