import TransferCore

extension JobDraft {
    /// Reads the job's ID.
    package mutating func readID(_ decoder: inout JobDecoder) throws(JSONFault) {
        guard let text = try decoder.text() else { return }
        id = text
        if !decoder.isTrusted, let message = DestinationPath.refusal(ofID: decoder.reader.string(text)) {
            decoder.note(message, text.token)
        }
    }

    /// Reads the IDs of the jobs that must be done first.
    package mutating func readNeeds(_ decoder: inout JobDecoder) throws(JSONFault) {
        _ = try decoder.array("an array of jobs' IDs") { (decoder) throws(JSONFault) in
            guard let text = try decoder.text() else { return }
            let name = decoder.reader.string(text)
            if decoder.isTrusted {
                needs.append(name)
            } else if name.isEmpty {
                decoder.note("the ID is empty", text.token)
            } else {
                // A destination identifies the job without an ID that has it, in any spelling.
                let isPath = name.utf8.contains(UInt8(ascii: "/")) && URLRule.refusal(of: name) != nil
                let identity = isPath ? DestinationPath.normalized(name) : name
                guard needed.insert(identity).inserted else {
                    decoder.note("\(Wording.quoted(name)) is named twice", text.token)
                    return
                }
                needs.append(identity)
                needPlaces.append(text.token)
            }
        }
    }

    /// Checks the rules that involve several keys of a job, and makes the job.
    package mutating func finish(_ decoder: inout JobDecoder, _ seen: UInt64) -> JobSpec? {
        let work: JobSpec.Work?
        var settings = rules.sharedSettings
        let bits = decoder.fields.bits
        let isCopy = seen & bits.download != 0 && seen & bits.upload == 0 && CopyDecoder.isMeant(decoder, self)
        if !isCopy {
            refuse(&decoder, bits.destination & seen, belongsTo: "a copy: a \"download\" whose \"to\" is a URL")
        }
        switch (seen & bits.download != 0, seen & bits.upload != 0) {
        case (true, false) where isCopy:
            let copy = CopyDecoder.finish(&decoder, &self, seen)
            work = copy?.work
            if let copy { settings = copy.settings }
        case (true, false): work = DownloadDecoder.finish(&decoder, self, seen)
        case (false, true): work = UploadDecoder.finish(&decoder, &self, seen).map { .upload($0) }
        case (true, true):
            decoder.note("a job has either \"download\" or \"upload\", not both", decoder.range(of: .upload, in: self))
            work = nil
        case (false, false):
            decoder.note("\"download\" or \"upload\" is missing", start..<start + 1)
            work = nil
        }
        if seen & bits.to == 0 { decoder.note("\"to\" is missing", start..<start + 1) }
        if seen & bits.tls != 0, !decoder.isTrusted { checkTLS(&decoder) }
        guard !decoder.hasProblems, let work else { return nil }
        return JobSpec(
            id: id.map { decoder.reader.string($0) }, work: work, needs: needs, priority: rules.priority,
            settings: settings)
    }

    /// Returns the upload that an entry of `"watch"` makes of each file, checked by the rules of an upload job.
    ///
    /// - Parameter seen: The bits of the entry's keys that a job has too.
    package mutating func watchedUpload(_ decoder: inout JobDecoder, _ seen: UInt64) -> JobSpec.Upload? {
        let upload = UploadDecoder.finish(&decoder, &self, seen)
        if seen & decoder.fields.bits.tls != 0 { checkTLS(&decoder) }
        if !rules.settings.worker.tags.isEmpty {
            decoder.note("folders are watched by one machine: leave \"worker\" out of \"defaults\"", start..<start + 1)
        }
        return upload
    }

    /// Notes a fault where one object names both `segments` and `compressed`. The `segments` of a weaker object gives
    /// way to `compressed`.
    package func checkConnections(_ decoder: inout JobDecoder) {
        guard rules.download.compressed, case .exactly(let count) = rules.download.segments, count > 1 else { return }
        decoder.note(Self.compressedParts, decoder.range(of: .segments, in: self))
    }

    package static let compressedParts =
        "\"segments\" and \"compressed\" do not go together: what is compressed on its way has no parts that could be "
        + "asked for; leave one of them out"

    /// Checks that the job and its defaults together have all parts of a client certificate.
    private func checkTLS(_ decoder: inout JobDecoder) {
        let tls = rules.settings.tls
        guard tls.cert == nil else { return }
        if tls.keyPassphrase != nil {
            decoder.note("\"keyPassphrase\" needs a \"cert\"", decoder.range(of: .tls, in: self))
        }
    }

    /// Notes a fault for each key that belongs to another kind of work.
    package func refuse(_ decoder: inout JobDecoder, _ keys: UInt64, belongsTo owner: String) {
        guard keys != 0, !decoder.isTrusted else { return }
        for (index, key) in decoder.fields.table.names.enumerated() where keys & (1 << UInt64(index)) != 0 {
            decoder.note("\"\(key)\" belongs to \(owner)", decoder.range(ofKey: key, inObjectAt: start))
        }
    }
}
