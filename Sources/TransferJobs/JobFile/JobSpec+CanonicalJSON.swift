package import TransferCore

extension JobSpec {
    /// The job as one line of JSON in the grammar of a job file, with keys in a fixed order and without default values.
    ///
    /// Equal jobs have equal text, and `init(canonicalJSON:)` restores the same job.
    public var canonicalJSON: String { canonicalJSON(.all) }

    /// Returns the job as canonical JSON.
    ///
    /// - Parameter fields: The keys of a job.
    package func canonicalJSON(_ fields: JobFields) -> String {
        var writer = JSONWriter()
        fields.write(&writer, self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Appends `canonicalJSON` to a buffer, which many jobs can share.
    public func appendCanonicalJSON(to bytes: inout [UInt8]) {
        var writer = JSONWriter(bytes: bytes)
        bytes = []
        JobFields.all.write(&writer, self)
        bytes = writer.bytes
    }

    /// Restores a job from its canonical text, whose values are not checked again.
    ///
    /// - Parameter canonicalJSON: The bytes of a job's `canonicalJSON`.
    /// - Throws: `JobFileFault` where the bytes are no job.
    public init(canonicalJSON: UnsafeRawBufferPointer) throws(JobFileFault) {
        try self.init(canonicalJSON: canonicalJSON, .all)
    }

    private init(canonicalJSON: UnsafeRawBufferPointer, _ fields: JobFields) throws(JobFileFault) {
        let bytes = canonicalJSON.bindMemory(to: UInt8.self)
        var decoder = JobDecoder(JSONReader(bytes), sums: .none, isTrusted: true, fields: fields)
        do {
            let spec = try decoder.job().spec
            try decoder.reader.expectEnd()
            if let spec {
                self = spec
                return
            }
        } catch {
            decoder.note(error.message, error.range)
        }
        let problem = decoder.takeProblems().kept.first ?? Problem(message: "not a job", range: 0..<1)
        throw FaultContext(bytes: bytes, base: SourceCursor(), path: "$").fault(problem, quoting: false)
    }

    /// Restores a job from its canonical text, whose values are not checked again.
    ///
    /// - Throws: `JobFileFault` where the text is no job.
    public init(canonicalJSON: String) throws(JobFileFault) { try self.init(canonicalJSON: canonicalJSON, .all) }

    /// Restores a job from its canonical text.
    ///
    /// - Parameter fields: The keys of a job.
    package init(canonicalJSON: String, _ fields: JobFields) throws(JobFileFault) {
        var text = canonicalJSON
        let result: Result<JobSpec, JobFileFault> = text.withUTF8 { bytes in
            Result { () throws(JobFileFault) in try JobSpec(canonicalJSON: UnsafeRawBufferPointer(bytes), fields) }
        }
        self = try result.get()
    }
}

extension JobFields {
    /// Writes a job as one object.
    package func write(_ writer: inout JSONWriter, _ spec: JobSpec) {
        writer.object { writer in
            for output in order.name { output.write(&writer, spec) }
            switch spec.work {
            case .download(let download):
                let isPlain = download == JobSpec.Download(urls: download.urls, destination: download.destination)
                for output in isPlain ? order.plainDownload : order.download { output.write(&writer, download) }
            case .upload(let upload) where upload.from != nil: return writeCopy(&writer, spec, upload)
            case .upload(let upload):
                let isPlain = upload == JobSpec.Upload(source: upload.source, url: upload.url)
                for output in isPlain ? order.plainUpload : order.upload { output.write(&writer, upload) }
            }
            for output in order.turn { output.write(&writer, spec) }
            guard !spec.hasNoSettings else { return }
            for output in order.settings { output.write(&writer, spec.settings) }
        }
    }

    /// Writes a copy: the source's keys as the job's own, and the destination's keys in a nested object.
    private func writeCopy(_ writer: inout JSONWriter, _ spec: JobSpec, _ upload: JobSpec.Upload) {
        guard let from = upload.from else { return }
        let own = Set(order.download.map(\.key))
        for output in order.download where output.key != JobKey.to.rawValue { output.write(&writer, from.download) }
        for output in order.upload
        where output.key != JobKey.upload.rawValue
            && (output.key == JobKey.to.rawValue || !own.contains(output.key))
        {
            output.write(&writer, upload)
        }
        for output in order.turn { output.write(&writer, spec) }
        let settings = from.settings.with(rulesOfJob: spec.settings)
        for output in order.settings { output.write(&writer, settings) }
        guard !spec.hasNoSettings else { return }
        writer.key(JobKey.destination.rawValue)
        DestinationRules.fields.write(&writer, spec.settings)
    }
}
