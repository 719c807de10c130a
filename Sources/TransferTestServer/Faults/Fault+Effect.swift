extension Fault {
    func apply(to head: inout RequestHead) {
        for case .request(let step) in steps {
            head.headers["If-Range"] = nil
            switch step {
            case .ignoreRange: head.headers["Range"] = nil
            case .serveRange(let range): head.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            }
        }
    }

    /// Returns the file with the fault's changes.
    ///
    /// - Returns: `nil` where the file is removed.
    func changed(_ file: ServedFile) -> ServedFile? {
        var changed: ServedFile? = file
        for case .resource(let step) in steps {
            switch step {
            case .etag(let etag): changed?.etag = etag
            case .lastModified(let seconds): changed?.lastModified = seconds
            case .replace(let file): changed = file
            case .remove: changed = nil
            case .gzip: break
            }
        }
        return changed
    }

    var usesGzip: Bool {
        steps.contains { if case .resource(.gzip) = $0 { true } else { false } }
    }

    /// Returns the scripted response that replaces the resource's own; `nil` for none.
    func answer(total: Int64?) -> ResponsePlan? {
        for step in steps {
            switch step {
            case .answer(let response): return ResponsePlan(response)
            case .rangeNotSatisfiable: return .unsatisfiable(total: total)
            default: continue
            }
        }
        return nil
    }

    func apply(to plan: inout ResponsePlan) {
        for case .response(let step) in steps { apply(step, to: &plan) }
        plan.marks.sort { $0.offset < $1.offset }
    }

    private func apply(_ step: ResponseStep, to plan: inout ResponsePlan) {
        switch step {
        case .mark(let mark, let offset): plan.marks.append((offset, mark))
        case .opening(let opening): plan.opening = opening
        case .pace(let bytes, let interval): plan.pace = (max(1, bytes), interval)
        case .framing(let framing): plan.framing = framing
        case .contentRangeShift(let shift):
            guard let range = plan.contentRange?.range else { return }
            plan.contentRange?.range = range.lowerBound + shift..<range.upperBound + shift
        case .contentRangeTotal(let total): plan.contentRange?.total = total
        case .noContentRange: plan.contentRange = nil
        case .multipart: plan.becomeMultipart()
        case .header(let name, let value): plan.headers[name] = value
        case .padding(let bytes):
            let line = String(repeating: "x", count: 1024)
            for index in 0...bytes / 1024 { plan.headers.add("X-Padding-\(index)", line) }
        case .interim(let interim, let count): plan.interim += Array(repeating: interim, count: count)
        case .close: plan.closes = true
        }
    }

    /// Returns the false response that is sent in place of the true one.
    func misreported(_ plan: ResponsePlan) -> ResponsePlan {
        for case .misreport(let response) in uploadSteps { return ResponsePlan(response) }
        return plan
    }

    var uploadSteps: [UploadStep] {
        steps.compactMap { if case .upload(let step) = $0 { step } else { nil } }
    }
}

extension ResponsePlan {
    /// Turns the body into multipart/byteranges (RFC 9110, section 14.6). It applies only to a response with one range.
    fileprivate mutating func becomeMultipart() {
        guard let contentRange, case .slice(let content, let range)? = body.first, body.count == 1 else { return }
        let boundary = "THIS_STRING_SEPARATES"
        let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
        let parts = [range.lowerBound..<middle, middle..<range.upperBound].filter { !$0.isEmpty }
        body = parts.flatMap { part -> [Piece] in
            let place = ContentRange(range: part, total: contentRange.total).text
            let head = "\r\n--\(boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: \(place)\r\n\r\n"
            return [.bytes(Array(head.utf8)), .slice(content, part)]
        }
        body.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
        headers["Content-Type"] = "multipart/byteranges; boundary=\(boundary)"
        self.contentRange = nil
    }
}
