extension JobSpec.Upload {
    /// How an upload is cut into requests, and what goes along with it. Each protocol takes what it knows.
    public struct Options: Sendable, Hashable {
        /// Bytes of the source in one request at most; `nil` leaves it to the protocol and its server.
        public var chunkSize: Int64?
        /// Requests at the same time, 1 to 64, where the protocol can join parts (`tus`, `s3`); `nil` is its default.
        public var parallel: Int?
        /// Make the folders of the destination that aren't there (WebDAV's MKCOL, FTP, SFTP).
        public var createFolders = false
        public var ifChanged = IfChanged.restart
        /// What goes along with the file: `tus` metadata, `x-amz-meta-…` of `s3`.
        public var metadata: [Field] = []
        /// Fields of a form, before the file; for `multipart`.
        public var fields: [Field] = []
        /// The name of the form's field that is the file.
        public var fileField = "file"

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
