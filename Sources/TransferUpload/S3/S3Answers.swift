import TransferCore

/// What S3's answers say where all went well.
enum S3Answers {
    /// An entity tag without `W/` and quotes.
    static func unquoted(_ etag: String) -> String {
        let opaque = etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]
        guard opaque.count >= 2, opaque.first == "\"", opaque.last == "\"" else { return String(opaque) }
        return String(opaque.dropFirst().dropLast())
    }

    /// An entity tag as its field has it; some servers leave the quotes out in XML.
    static func quoted(_ etag: String) -> String { etag.hasSuffix("\"") ? etag : "\"\(etag)\"" }

    /// The SHA-256 digest of a whole object; `nil` for one that was made of its parts' digests (`…-3`).
    static func digest(_ checksum: String?) -> Checksum? {
        checksum.flatMap { Base64.decode($0) }.flatMap { Checksum(.sha256, bytes: $0) }
    }

    /// Whether the element is the result of that operation. AWS's end in `Result`; rclone leaves that away here and
    /// there, and moto's list of parts is a `ListPartsResponse`.
    private static func isNamed(_ element: XMLElement, _ name: String) -> Bool {
        [name, name + "Result", name + "Response"].contains(element.name)
    }

    /// Of CreateMultipartUpload.
    static func uploadID(_ body: [UInt8]) -> String? {
        guard let root = XMLElement.read(body), isNamed(root, "InitiateMultipartUpload") else { return nil }
        return root.text("UploadId")
    }

    /// One page of ListParts.
    struct PartsPage: Sendable, Hashable {
        var parts: [Part] = []
        /// What the next page begins after; `nil` at the end.
        var next: Int?

        struct Part: Sendable, Hashable {
            var number: Int
            var size: Int64
            var etag: String
            var checksum: String?
        }

        /// A page that was cut off counts as far as it goes, and the next begins there.
        ///
        /// - Parameter marker: What this page was asked for after.
        /// - Returns: `nil` for a body that is none, or that leads nowhere.
        init?(_ body: [UInt8], after marker: Int) {
            guard let root = XMLElement.read(body), S3Answers.isNamed(root, "ListParts") else { return nil }
            for element in root.children where element.name == "Part" && element.isWhole {
                guard let number = element.text("PartNumber").flatMap({ Int($0) }),
                    let size = element.text("Size").flatMap({ Int64($0) }), let etag = element.text("ETag")
                else { return nil }
                parts.append(Part(number: number, size: size, etag: etag, checksum: element.text("ChecksumSHA256")))
            }
            guard !root.isWhole || root.text("IsTruncated")?.lowercased() == "true" else { return }
            let named = root.isWhole ? root.text("NextPartNumberMarker").flatMap { Int($0) } : nil
            guard let last = [named, parts.map(\.number).max()].compactMap({ $0 }).max(), last > marker else {
                return nil
            }
            next = last
        }
    }

    enum Completed: Sendable, Hashable {
        case done(etag: String?, digest: Checksum?)
        case fault(S3Fault)
        /// Neither: S3 sends its 200 before it knows how it ends.
        case unclear
    }

    /// Of CompleteMultipartUpload, under a status of success.
    static func completed(_ body: [UInt8]) -> Completed {
        if let fault = S3Fault(body) { return .fault(fault) }
        guard let root = XMLElement.read(body), root.isWhole, isNamed(root, "CompleteMultipartUpload") else {
            return .unclear
        }
        return .done(etag: root.text("ETag").map(quoted), digest: digest(root.text("ChecksumSHA256")))
    }
}
