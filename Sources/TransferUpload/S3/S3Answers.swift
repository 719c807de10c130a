import TransferCore

/// The successful answers of S3.
package enum S3Answers {
    /// Returns an entity tag without `W/` and quotes.
    static func unquoted(_ etag: String) -> String {
        let opaque = etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]
        guard opaque.count >= 2, opaque.first == "\"", opaque.last == "\"" else { return String(opaque) }
        return String(opaque.dropFirst().dropLast())
    }

    /// Returns an entity tag in the form of its field; some servers omit the quotes in XML.
    static func quoted(_ etag: String) -> String { etag.hasSuffix("\"") ? etag : "\"\(etag)\"" }

    /// Returns the SHA-256 digest of a whole object, or `nil` for one that was made of its parts' digests (`…-3`).
    static func digest(_ checksum: String?) -> Checksum? {
        checksum.flatMap { Base64.decode($0) }.flatMap { Checksum(.sha256, bytes: $0) }
    }

    /// Compares the sent bytes with the tag that the server gave.
    ///
    /// The tag is the MD5 of a body. It is not where the server encrypts with keys that are not its own ("Common
    /// Response Headers" of the S3 API).
    ///
    /// - Returns: `nil` where the tag proves nothing.
    static func verdict(_ answer: UploadAnswer, etag: String) -> Result<Void, TransferError>? {
        guard let sent = answer.sums, let there = Checksum(.md5, hex: unquoted(etag)), sent.algorithm == .md5,
            !isEncryptedByKey(answer.head)
        else { return nil }
        guard there != sent else { return .success(()) }
        return .failure(
            TransferError(
                .checksumMismatch, "the server has \(there) of what was sent as \(sent)", isTransient: true))
    }

    private static func isEncryptedByKey(_ head: ResponseHead) -> Bool {
        head.value("x-amz-server-side-encryption").map { $0 != "AES256" } ?? false
            || head.value("x-amz-server-side-encryption-customer-algorithm") != nil
    }

    /// Returns whether the element is the result of that operation.
    ///
    /// AWS's end in `Result`. rclone sometimes omits that, and moto's list of parts is a `ListPartsResponse`.
    private static func isNamed(_ element: XMLElement, _ name: String) -> Bool {
        [name, name + "Result", name + "Response"].contains(element.name)
    }

    /// Returns the upload's ID in the answer to CreateMultipartUpload.
    static func uploadID(_ body: [UInt8]) -> String? {
        guard let root = XMLElement.read(body), isNamed(root, "InitiateMultipartUpload") else { return nil }
        return root.text("UploadId")
    }

    /// A page of ListParts.
    struct PartsPage: Sendable, Hashable {
        var parts: [Part] = []
        /// The part number after which the next page begins; `nil` at the end.
        var next: Int?

        struct Part: Sendable, Hashable {
            var number: Int
            var size: Int64
            var etag: String
            var checksum: String?
        }

        /// Parses a page. A truncated page counts up to its end, and the next begins there.
        ///
        /// - Parameter marker: The part number after which this page was requested.
        /// - Returns: `nil` for a body that is no page, or that makes no progress.
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

    /// The first page of ListMultipartUploads.
    struct UploadsPage: Sendable, Hashable {
        struct Upload: Sendable, Hashable {
            var key: String
            var uploadID: String
            /// The time of the creation in seconds since 1970.
            var initiated: Int64
        }

        var uploads: [Upload] = []

        /// Parses a page.
        ///
        /// - Returns: `nil` for a body that is no page, was truncated, or has an incomplete upload.
        init?(_ body: [UInt8]) {
            guard let root = XMLElement.read(body), root.isWhole, S3Answers.isNamed(root, "ListMultipartUploads") else {
                return nil
            }
            for element in root.children where element.name == "Upload" {
                guard let key = element.child("Key")?.text, let id = element.text("UploadId"),
                    let initiated = element.text("Initiated").flatMap(S3Answers.time)
                else { return nil }
                uploads.append(Upload(key: key, uploadID: id, initiated: initiated))
            }
        }
    }

    /// Parses a time.
    ///
    /// - Returns: The seconds since 1970 of a time in the form `2010-11-10T20:48:33.000Z`; `nil` for any other text.
    package static func time(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[4] == 0x2D, bytes[7] == 0x2D,
            bytes[10] == UInt8(ascii: "T"), bytes[13] == 0x3A, bytes[16] == 0x3A,
            bytes.count == 20 || bytes[19] == UInt8(ascii: ".")
        else { return nil }
        func number(_ range: Range<Int>, _ bounds: ClosedRange<Int>) -> Int? {
            Int(String(decoding: bytes[range], as: UTF8.self)).flatMap { bounds.contains($0) ? $0 : nil }
        }
        guard let year = number(0..<4, 1970...9999), let month = number(5..<7, 1...12),
            let day = number(8..<10, 1...31), let hours = number(11..<13, 0...23),
            let minutes = number(14..<16, 0...59),
            let seconds = number(17..<19, 0...60)
        else { return nil }
        return CivilDate.day(year: year, month: month, day: day) * 86_400
            + Int64(hours * 3600 + minutes * 60 + seconds)
    }

    enum Completed: Sendable, Hashable {
        case done(etag: String?, digest: Checksum?)
        case fault(S3Fault)
        /// The result is unknown: S3 sends its 200 before the operation ends.
        case unclear
    }

    /// Returns the result in the answer to CompleteMultipartUpload, under a status of success.
    static func completed(_ body: [UInt8]) -> Completed {
        if let fault = S3Fault(body) { return .fault(fault) }
        guard let root = XMLElement.read(body), root.isWhole, isNamed(root, "CompleteMultipartUpload") else {
            return .unclear
        }
        return .done(etag: root.text("ETag").map(quoted), digest: digest(root.text("ChecksumSHA256")))
    }
}
