import TransferCore

extension JobFileReader {
    /// Reads a JSON document in two passes: the top level, where the jobs are skipped, and then the jobs.
    package mutating func document(
        _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        let start = bytes.starts(with: JobFileFormat.byteOrderMark) ? JobFileFormat.byteOrderMark.count : 0
        decoder.reader = JSONReader(bytes, offset: start)
        var cursor = SourceCursor(offset: start, line: 1)
        let header: JobFileHeader
        do {
            header = try JobFileHeader.document(&decoder)
            try decoder.reader.expectEnd()
        } catch {
            decoder.note(error.message, error.range)
            decoder.reader.offset = start
            decoder.reader.skipSpace()
            cursor.advance(to: decoder.reader.offset, in: bytes)
            _ = try flush(FaultContext(bytes: bytes, base: cursor, path: "$"), sink)
            return try begin(BatchSpec(), sink)
        }
        decoder.reader.offset = start
        decoder.reader.skipSpace()
        cursor.advance(to: decoder.reader.offset, in: bytes)
        decoder.placeDefaults(cursor)
        _ = try flush(FaultContext(bytes: bytes, base: cursor, path: "$"), sink)
        try begin(header.batch, sink)
        if let watch = header.watch { try watches(at: watch, bytes, cursor, sink) }
        if let jobs = header.jobs { try self.jobs(at: jobs, bytes, cursor, sink) }
    }

    private mutating func jobs(
        at start: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ base: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        try elements(of: "jobs", counted: \.jobCount, at: start, bytes, base, sink) { decoder throws(JSONFault) in
            try decoder.job()
        } take: { reader, result, cursor in
            try reader.hand(result, bytes, cursor, sink)
        }
    }

    /// Reads the elements of an array of the document, up to the first that is not valid JSON.
    ///
    /// - Parameters:
    ///   - name: The array's key.
    ///   - count: The report's counter of these elements; `take` increments it for those it receives.
    ///   - start: The array's offset.
    ///   - base: A position before the array.
    private mutating func elements<Element>(
        of name: String, counted count: WritableKeyPath<JobFileReport, Int>, at start: Int,
        _ bytes: UnsafeBufferPointer<UInt8>, _ base: SourceCursor, _ sink: (JobFileElement) throws -> Void,
        read: (inout JobDecoder) throws(JSONFault) -> Element,
        take: (inout JobFileReader, Element, SourceCursor) throws -> Void
    ) throws {
        var cursor = base
        decoder.reader = JSONReader(bytes, offset: start)
        var isFirst = true
        do {
            try decoder.reader.beginArray()
        } catch {
            return
        }
        while true {
            let element: Element
            do {
                guard try decoder.reader.element(isFirst: &isFirst) else { return }
                cursor.advance(to: decoder.reader.offset, in: bytes)
                decoder.turn.number = report[keyPath: count] + 1
                element = try read(&decoder)
            } catch {
                // Faults that the first pass does not detect, such as a repeated key within an unknown value.
                decoder.note(error.message, error.range)
                let path = "$.\(name)[\(report[keyPath: count])]"
                _ = try flush(FaultContext(bytes: bytes, base: cursor, path: path), sink)
                report[keyPath: count] += 1
                return
            }
            try take(&self, element, cursor)
        }
    }

    /// Reads one line of JSON Lines.
    package mutating func jobLine(
        _ bytes: UnsafeBufferPointer<UInt8>, _ sink: (JobFileElement) throws -> Void
    ) throws {
        decoder.reader = JSONReader(bytes)
        decoder.reader.skipSpace()
        guard decoder.reader.offset < bytes.count else { return }
        let cursor = {
            var cursor = SourceCursor(offset: 0, line: line)
            cursor.advance(to: decoder.reader.offset, in: bytes)
            return cursor
        }()
        if !hasBegun, Self.isHeader(bytes) {
            var header = JobFileHeader()
            do {
                header = try JobFileHeader.line(&decoder)
                try decoder.reader.expectEnd()
            } catch {
                decoder.note(error.message, error.range)
            }
            decoder.placeDefaults(cursor)
            _ = try flush(FaultContext(bytes: bytes, base: cursor, path: "$"), sink)
            try begin(header.batch, sink)
            if let watch = header.watch { try watches(at: watch, bytes, cursor, sink) }
            return
        }
        try begin(BatchSpec(), sink)
        var result: (spec: JobSpec?, places: JobPlaces) = (nil, JobPlaces(job: 0..<1))
        decoder.turn.number = report.jobCount + 1
        do {
            result = try decoder.job()
            try decoder.reader.expectEnd()
        } catch {
            decoder.note(error.message, error.range)
        }
        try hand(result, bytes, cursor, sink)
    }

    private mutating func hand(
        _ result: (spec: JobSpec?, places: JobPlaces), _ bytes: UnsafeBufferPointer<UInt8>, _ cursor: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        let format = format ?? .json
        let index = report.jobCount
        report.jobCount += 1
        if decoder.hasProblems {
            let path = format == .json ? "$.jobs[\(index)]" : "$"
            _ = try flush(FaultContext(bytes: bytes, base: cursor, path: path), sink)
        } else if let spec = result.spec {
            note(spec)
            let place = JobLocations(result.places, index: index, format: format, cursor: cursor, in: bytes)
            try deliver(spec, place, sink)
        }
    }

    private mutating func note(_ spec: JobSpec) {
        if spec.settings.tls.insecure { report.trustingCount += 1 }
    }

    /// Returns whether a first line concerns the batch rather than a job. Its keys decide, even where one is misspelt.
    private static func isHeader(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var reader = JSONReader(bytes)
        var isFirst = true
        var isHeader = false
        do {
            guard try reader.kind() == .object else { return false }
            try reader.beginObject()
            while let key = try reader.key(isFirst: &isFirst) {
                let name = reader.string(key)
                if [.download, .upload, .to, .id].contains(JobKey(rawValue: name)) { return false }
                if FileKey(rawValue: name) != nil { isHeader = true }
                try reader.skipValue(checkingKeys: false)
            }
        } catch {
            // The line is read again, and the fault appears then.
        }
        return isHeader
    }

    // MARK: Watched folders

    /// Reads the array of `"watch"`, once the defaults are known.
    ///
    /// - Parameters:
    ///   - start: The array's offset.
    ///   - base: A position before the array.
    private mutating func watches(
        at start: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ base: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        let directory = directory
        try elements(of: "watch", counted: \.watchCount, at: start, bytes, base, sink) { decoder throws(JSONFault) in
            try WatchDraft.read(&decoder, directory: directory)
        } take: { reader, result, cursor in
            try reader.hand(watch: result, bytes, cursor, sink)
        }
    }

    private mutating func hand(
        watch result: (spec: WatchSpec?, places: WatchPlaces), _ bytes: UnsafeBufferPointer<UInt8>,
        _ cursor: SourceCursor,
        _ sink: (JobFileElement) throws -> Void
    ) throws {
        let index = report.watchCount
        report.watchCount += 1
        if let spec = result.spec { compare(spec, result.places, cursor, bytes) }
        let context = FaultContext(bytes: bytes, base: cursor, path: "$.watch[\(index)]")
        guard try !flush(context, sink), let spec = result.spec else { return }
        let entry = cursor.span(result.places.entry, in: bytes)
        let folder = result.places.folder.map { cursor.span($0, in: bytes) } ?? entry
        try sink(.watch(spec, WatchLocations(index: index, entry: entry, folder: folder)))
    }

    /// Notes the conflicts between an entry and those before it.
    private mutating func compare(
        _ spec: WatchSpec, _ places: WatchPlaces, _ cursor: SourceCursor, _ bytes: UnsafeBufferPointer<UInt8>
    ) {
        let range = places.range(of: .folder)
        if let twin = watched.first(where: { $0.spec.folder == spec.folder }) {
            // Both entries would upload each file.
            return decoder.note("same folder as another entry (line \(twin.line))", range)
        }
        let entry = WatchPath.Entry(spec: spec, line: cursor.span(range, in: bytes).line)
        watched.append(entry)
        if let circle = WatchPath.circle(from: entry, watched) {
            let lines = Wording.list(circle.map { "\($0.line)" })
            decoder.note(
                "files would be uploaded and moved round for ever: what is moved here ends where it came from (lines \(lines))",
                places.range(of: .then))
        }
    }
}
