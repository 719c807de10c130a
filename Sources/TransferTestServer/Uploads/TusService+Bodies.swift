/// A body that is being sent to an upload.
struct TusWrite: Sendable {
    let upload: String
    var isCreation = false
    /// The required checksum of the body; none of its bytes count before it has been verified.
    var checksum: Checksum?
    var held: [UInt8] = []
    var isTooLong = false

    struct Checksum: Sendable, Equatable {
        let algorithm: String
        let digest: [UInt8]

        /// Parses a checksum.
        ///
        /// - Returns: `nil` for an invalid value of Upload-Checksum (tus 1.0.0, "Checksum").
        init?(_ field: String) {
            let words = field.split(separator: " ").map(String.init)
            guard words.count == 2, let digest = Base64.decoded(words[1]) else { return nil }
            algorithm = words[0]
            self.digest = digest
        }

        func accepts(_ bytes: [UInt8]) -> Bool {
            switch algorithm {
            case "sha1": MessageDigest.sha1(bytes) == digest
            case "md5": MessageDigest.md5(bytes) == digest
            case "sha256": MessageDigest.sha256(bytes) == digest
            default: false
            }
        }
    }
}

/// The handling of PATCH, and of the bodies of POST.
extension TusService {
    mutating func patch(_ id: Int, _ index: Int, _ headers: HeaderFields) -> UploadServiceStep {
        let upload = uploads[index]
        if upload.writer != nil { return .answer(answer(423)) }
        if case .final = upload.kind { return .answer(answer(403)) }
        guard headers["Content-Type"] == "application/offset+octet-stream" else { return .answer(answer(415)) }
        guard let offset = headers["Upload-Offset"].flatMap({ Int64($0) }), offset >= 0 else {
            return .answer(answer(400))
        }
        guard offset == upload.offset else { return .answer(answer(409)) }
        if let body = headers["Content-Length"].flatMap({ Int64($0) }), body > upload.length - offset {
            return .answer(answer(413))
        }
        var write = TusWrite(upload: upload.id)
        if let field = headers["Upload-Checksum"] {
            guard offers.contains("checksum"), let checksum = TusWrite.Checksum(field),
                checksums.contains(checksum.algorithm)
            else { return .answer(answer(400)) }
            write.checksum = checksum
        }
        start(id, index, write)
        return .read()
    }

    mutating func start(_ id: Int, _ index: Int, _ write: TusWrite) {
        writes[id] = write
        change(index) { $0.writer = id }
    }

    /// Stores bytes as they arrive, so that an interruption loses none.
    mutating func take(_ id: Int, _ bytes: [UInt8]) {
        guard let write = writes[id], let index = index(of: write.upload) else { return }
        guard write.checksum == nil else {
            writes[id]?.held += bytes
            return
        }
        let room = Int(uploads[index].length - uploads[index].offset)
        if bytes.count > room { writes[id]?.isTooLong = true }
        change(index) { $0.bytes += bytes.prefix(room) }
    }

    mutating func finish(_ id: Int, isWhole: Bool) -> Response {
        guard let write = writes.removeValue(forKey: id) else { return answer(400) }
        guard let index = index(of: write.upload) else { return answer(410) }
        let expires = lifetime.map { now + $0 }
        change(index) {
            $0.writer = nil
            $0.expires = expires
        }
        if let checksum = write.checksum {
            // An incomplete chunk cannot be verified, so none of it counts.
            guard isWhole, checksum.accepts(write.held) else { return answer(460) }
            guard Int64(write.held.count) <= uploads[index].length - uploads[index].offset else { return answer(413) }
            change(index) { $0.bytes += write.held }
        }
        if write.isTooLong { return answer(413) }
        if write.isCreation { return created(index, isWithBody: true) }
        var fields: HeaderFields = ["Upload-Offset": "\(uploads[index].offset)"]
        fields["Upload-Expires"] = uploads[index].expiresField
        return answer(204, fields)
    }
}
