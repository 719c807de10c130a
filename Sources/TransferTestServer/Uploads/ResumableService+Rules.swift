// What the draft says about requests, section by section.
extension ResumableService {
    /// A request to a target: "Upload Creation", or the plain request that it is without the protocol.
    mutating func entered(
        _ id: Int, method: String, target: String, headers: HeaderFields
    ) -> UploadServiceStep {
        let version = headers["Upload-Draft-Interop-Version"]
        if refusesOtherVersions, let number = dialect.number, let version, version != number {
            return .answer(
                Response(status: 400, headers: ["Upload-Draft-Interop-Version": number, "Content-Length": "0"]))
        }
        guard dialect != .none, version == dialect.number, let isLast = boolean(headers["Upload-Complete"]) else {
            readPlain(id, method: method, target: target, headers: headers)
            return .read()
        }
        let content = count(headers["Content-Length"])
        let reported = count(headers["Upload-Length"])
        if isLast, let content, let reported, content != reported { return .answer(inconsistent) }
        let length = reported ?? (isLast ? content : nil)
        if let length, length > limits.maxSize ?? .max { return .answer(limited(413)) }
        if let least = limits.minSize, length ?? 0 < least {
            guard isLast else { return .answer(limited(400)) }
            readPlain(id, method: method, target: target, headers: headers)
            return .read()
        }
        if let content {
            if content > limits.maxAppendSize ?? .max, refusesLongCreation { return .answer(limited(413)) }
            if !isLast, content > 0, content < limits.minAppendSize ?? 0 { return .answer(limited(400)) }
        }
        let upload = add(method: method, target: target, headers: headers, length: length)
        read(id, upload.path, isCreation: true, isLast: isLast)
        var fields: HeaderFields = ["Location": upload.path]
        fields["Upload-Limit"] = announcedLimits(upload)
        return .read(interim: sendsInterim ? [interim(fields)] : [])
    }

    /// A request to an upload resource.
    mutating func resource(
        _ id: Int, method: String, path: String, headers: HeaderFields
    ) -> UploadServiceStep {
        if let expires = uploads[path]?.expires, expires <= now { uploads[path] = nil }
        guard uploads[path] != nil else { return .answer(gone) }
        supersede(path)
        guard let upload = uploads[path], !upload.isInvalid else { return .answer(gone) }
        switch method {
        case "HEAD", "GET":
            var fields = state(upload)
            fields["Upload-Length"] = dialect == .version8 ? upload.length.map(String.init) : nil
            fields["Upload-Limit"] = limitField(lifetime: upload.expires.map { $0 - now })
            fields["Cache-Control"] = "no-store"
            return .answer(marked(Response(status: 204, headers: fields)))
        case "PATCH": return append(id, upload, headers)
        case "DELETE":
            uploads[path] = nil
            return .answer(marked(Response(status: 204)))
        default: return .answer(Response(status: 405))
        }
    }

    /// "Upload Append"
    private mutating func append(_ id: Int, _ upload: Upload, _ headers: HeaderFields) -> UploadServiceStep {
        guard headers["Content-Type"] == "application/partial-upload" else {
            return .answer(marked(Response(status: 415, headers: ["Accept-Patch": "application/partial-upload"])))
        }
        guard let isLast = boolean(headers["Upload-Complete"]), let offset = count(headers["Upload-Offset"]) else {
            return .answer(marked(Response(status: 400, headers: ["Upload-Complete": "?0"])))
        }
        let content = count(headers["Content-Length"])
        if upload.isComplete, dialect == .version6 {
            return .answer(
                problem(400, "completed-upload", "the upload is complete", fields: ["Upload-Complete": "?1"]))
        }
        guard offset == upload.bytes.count else {
            return .answer(
                problem(
                    409, "mismatching-upload-offset", "offset from request does not match offset of resource",
                    members: [
                        "expected-offset": .number(String(upload.bytes.count)),
                        "provided-offset": .number(String(offset)),
                    ], fields: ["Upload-Offset": String(upload.bytes.count), "Upload-Complete": "?0"]))
        }
        if upload.isComplete {
            // "The server can choose to replay the final response."
            if let final = upload.final, isLast, content == 0 { return .answer(final) }
            return .answer(marked(Response(status: 400, headers: ["Upload-Complete": "?0"])))
        }
        let reported = count(headers["Upload-Length"])
        let computed = isLast ? content.map { offset + $0 } : nil
        for length in [reported, computed].compactMap({ $0 }) where length != upload.length ?? length {
            return .answer(inconsistent)
        }
        uploads[upload.path]?.length = upload.length ?? reported ?? computed
        if let content {
            if content > limits.maxAppendSize ?? .max { return .answer(limited(413)) }
            if !isLast, content < limits.minAppendSize ?? 0 { return .answer(limited(400)) }
        }
        read(id, upload.path, isCreation: false, isLast: isLast)
        return .read()
    }

    /// The content is whole: the target gets it.
    mutating func complete(_ path: String) -> Response {
        guard let upload = uploads[path] else { return gone }
        if let length = upload.length, length != upload.bytes.count { return inconsistent }
        let (promised, isWanted) = (upload.headers["Repr-Digest"], upload.headers["Want-Repr-Digest"] != nil)
        // Only where somebody asks: it takes minutes for a gibibyte where nothing is optimised.
        let digest =
            promised != nil || isWanted
            ? "sha-256=:\(Base64.encoded(MessageDigest.sha256(upload.bytes)[...])):" : nil
        var response: Response
        if let promised, promised.hasPrefix("sha-256="), promised != digest {
            response = Response(status: 400, body: .text("the digest is another one\n"))
        } else {
            response = take(
                upload.bytes, method: upload.method, target: upload.target, headers: upload.headers)
        }
        if dialect == .version8 { response.headers["Upload-Complete"] = marksAnswers ? "?1" : nil }
        if isWanted { response.headers["Repr-Digest"] = digest }
        response = marked(response)
        uploads[path]?.isComplete = true
        uploads[path]?.final = response
        if !keepsCompleted { uploads[path] = nil }
        return response
    }

    // MARK: Fields and answers

    func createdFields(_ upload: Upload) -> HeaderFields {
        var fields = appendedFields(upload)
        fields["Location"] = upload.path
        fields["Upload-Limit"] = announcedLimits(upload)
        return fields
    }

    func appendedFields(_ upload: Upload) -> HeaderFields {
        // Version 6 demands the offset; since draft -06 it's the one that the client computes.
        var fields = dialect == .version6 ? state(upload) : [:]
        fields["Upload-Complete"] = marksAnswers ? "?0" : nil
        return fields
    }

    private func state(_ upload: Upload) -> HeaderFields {
        ["Upload-Offset": String(upload.bytes.count), "Upload-Complete": upload.isComplete ? "?1" : "?0"]
    }

    private func announcedLimits(_ upload: Upload) -> String? {
        limits == Limits() ? nil : limitField(lifetime: upload.expires.map { $0 - now })
    }

    func limitField(lifetime: Int64?) -> String {
        let members: [(String, Int64?)] = [
            ("max-size", limits.maxSize.map(Int64.init)), ("min-size", limits.minSize.map(Int64.init)),
            ("max-append-size", limits.maxAppendSize.map(Int64.init)),
            ("min-append-size", limits.minAppendSize.map(Int64.init)),
            (dialect == .version6 ? "expires" : "max-age", lifetime),
        ]
        let text = members.compactMap { key, value in value.map { "\(key)=\($0)" } }.joined(separator: ", ")
        return text.isEmpty ? "min-size=0" : text
    }

    func interim(_ fields: HeaderFields) -> Response {
        var fields = fields
        fields["Upload-Draft-Interop-Version"] = dialect.number
        return Response(status: 104, headers: fields)
    }

    /// Only 104 has to name the version; Apple's server of version 6 names it everywhere.
    func marked(_ response: Response) -> Response {
        guard dialect == .version6 else { return response }
        var response = response
        response.headers["Upload-Draft-Interop-Version"] = dialect.number
        return response
    }

    var gone: Response { marked(Response(status: 404)) }

    private var inconsistent: Response {
        problem(
            400, "inconsistent-upload-length", "inconsistent length values for upload",
            fields: ["Upload-Complete": "?0"])
    }

    private func limited(_ status: Int) -> Response {
        marked(
            Response(status: status, headers: ["Upload-Complete": "?0", "Upload-Limit": limitField(lifetime: nil)]))
    }

    /// RFC 9457
    private func problem(
        _ status: Int, _ type: String, _ title: String, members: [String: JSONValue] = [:], fields: HeaderFields
    ) -> Response {
        var object = members
        object["type"] = .string("https://iana.org/assignments/http-problem-types#" + type)
        object["title"] = .string(title)
        var fields = fields
        fields["Content-Type"] = "application/problem+json"
        return marked(Response(status: status, headers: fields, body: .text(JSONValue.object(object).line)))
    }

    private func boolean(_ text: String?) -> Bool? {
        switch text {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    private func count(_ text: String?) -> Int? { text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }
}
