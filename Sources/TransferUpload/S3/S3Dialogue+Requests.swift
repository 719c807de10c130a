import TransferCore

extension S3Dialogue {
    /// The parts in a page of ListParts: with digests and long tags far less than the kept part of an answer.
    static let pageSize = 400

    func request(
        _ id: Int, _ exchange: S3Exchange, _ credentials: S3Credentials, _ now: Int64
    ) throws(TransferError) -> UploadRequest {
        var url = exchange.isOfBucket ? location.bucketURL : location.url
        if let query = query(exchange) { url += "?\(query)" }
        let labels = options.labels.filter { label in options.headers.value(label.name) == nil }
        let owners = S3OwnersFields(options.headers + labels, for: exchange)
        var signed = owners.signed
        var payload = SignatureVersion4.Payload.empty
        var body = UploadRequest.Body.none
        let method: String
        switch exchange {
        case .put(let digest):
            method = "PUT"
            body = .source(0..<source.size)
            payload = protect(options.integrity, digest, &signed)
            setType(&signed)
        case .part(let number, let digest):
            method = "PUT"
            guard let multipart else { throw Self.unreachable }
            body = .source(multipart.parts.range(number))
            payload = protect(multipart.integrity, digest, &signed)
            signed.append(HeaderField("Content-Type", FileMediaType.unknown))
        case .create:
            method = "POST"
            body = .bytes([])
            if options.integrity == .storedSHA256, !source.isStreamed {
                signed.append(HeaderField("x-amz-checksum-algorithm", "SHA256"))
            }
            setType(&signed)
        case .complete:
            method = "POST"
            guard let document = multipart?.parts.document else { throw Self.unreachable }
            body = .bytes(document)
            payload = .bytes(document)
            signed.append(HeaderField("Content-Type", "application/xml"))
        case .head:
            method = "HEAD"
            signed.append(HeaderField("x-amz-checksum-mode", "ENABLED"))
        case .list, .fetch: method = "GET"
        case .abort: method = "DELETE"
        case .stray(let stray): method = stray.isAbort ? "DELETE" : "GET"
        }
        let sums: DigestAlgorithm? =
            switch exchange {
            case .put(nil), .part(_, nil): source.isStreamed ? .md5 : nil
            default: nil
            }
        let signature = try SignatureVersion4(region: location.region).fields(
            method: method, url: url, headers: signed, payload: payload, credentials: credentials, now: now)
        var request = UploadRequest(
            id: id, method: method, url: url, headers: signed + signature + owners.unsigned, body: body,
            ownersFields: .none, followsRedirects: false)
        request.sums = sums
        if case .fetch = exchange { request.digests = source.digest?.algorithm ?? .sha256 }
        return request
    }

    private func query(_ exchange: S3Exchange) -> String? {
        let uploadID = PercentEncoding.encode(exchange.strayID ?? multipart?.uploadID ?? "")
        switch exchange {
        case .put, .head, .fetch: return nil
        case .create: return "uploads="
        case .list(let marker):
            return "max-parts=\(Self.pageSize)&part-number-marker=\(marker)&uploadId=\(uploadID)"
        case .part(let number, _): return "partNumber=\(number)&uploadId=\(uploadID)"
        case .complete, .abort: return "uploadId=\(uploadID)"
        case .stray(let stray):
            switch stray.step {
            case .list: return "max-uploads=\(S3Stray.pageSize)&prefix=\(PercentEncoding.encode(location.key))&uploads="
            // One part is enough to show that there are some.
            case .parts: return "max-parts=1&uploadId=\(uploadID)"
            case .abort: return "uploadId=\(uploadID)"
            }
        }
    }

    private func protect(
        _ integrity: S3Options.Integrity, _ digest: Checksum?, _ fields: inout [HeaderField]
    ) -> SignatureVersion4.Payload {
        guard let digest else { return .unsigned }
        switch integrity {
        case .none: return .unsigned
        case .md5:
            fields.append(HeaderField("Content-MD5", digest.base64))
            return .unsigned
        case .sha256: return .digest(digest)
        case .storedSHA256:
            fields.append(HeaderField("x-amz-checksum-sha256", digest.base64))
            return .digest(digest)
        }
    }

    /// Sets the object's type: the job's, or that suggested by the file's name or the key.
    ///
    /// The type is never omitted. Clients may add a form's type where it is missing. It would become the object's, and
    /// some servers (moto) would parse the body of a part as a form.
    private func setType(_ fields: inout [HeaderField]) {
        guard fields.value("Content-Type") == nil else { return }
        let type = FileMediaType.suggested(by: source.name, location.key) ?? FileMediaType.unknown
        fields.append(HeaderField("Content-Type", type))
    }

    static var unreachable: TransferError {
        TransferError(.internalFault, "a part of an S3 upload was asked for that has no ID")
    }
}
