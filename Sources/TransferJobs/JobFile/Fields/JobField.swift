import TransferCore

/// One key of a job in a job file: a row of ``JobFields``. The decoder, the canonical text, the fingerprint, the schema
/// and the manual page's table all derive from it.
package final class JobField: Sendable {
    /// The values of a job to which the key applies, each with its place in the canonical text.
    package enum Part: Sendable {
        /// A value at the very beginning.
        case name(FieldOutput<JobSpec>)
        case download(FieldOutput<JobSpec.Download>)
        case upload(FieldOutput<JobSpec.Upload>)
        /// A value that decides the job's turn; it follows the work.
        case turn(FieldOutput<JobSpec>)
        case settings(FieldOutput<JobSettings>)
    }

    /// The objects besides a job that may have the key.
    package struct Places: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A batch's `defaults`.
        package static let defaults = Places(rawValue: 1)
        /// An entry of `watch`.
        package static let watch = Places(rawValue: 2)
    }

    /// The jobs that may have the key.
    package enum Jobs: Sendable, Hashable {
        case all, downloads
        case uploads
        /// Uploads by the protocols whose entries list the key (``UploadEntry/keys``).
        case someUploads
        /// Downloads, and uploads by the protocols that list the key.
        case downloadsAndSomeUploads
    }

    package typealias Read = @Sendable (inout JobDecoder, inout JobDraft) throws(JSONFault) -> Void

    package let key: String
    package let places: Places
    package let jobs: Jobs
    package let read: Read
    package let parts: [Part]
    package let about: FieldNote
    /// Whether `null` removes the value of the defaults and the configuration.
    package let isUnsettable: Bool

    /// A closure that resets the key's value in the rules.
    package typealias Unset = @Sendable (inout JobDefaults) -> Void

    /// Creates a key with a reader of its own.
    ///
    /// - Parameter unset: The effect of `null`, where defaults may have the key.
    package init(
        _ key: String, _ places: Places, _ jobs: Jobs, _ about: FieldNote, _ parts: [Part], unset: Unset? = nil,
        read: @escaping Read
    ) {
        self.key = key
        self.places = places
        self.jobs = jobs
        self.about = about
        self.parts = parts
        guard let unset, places.contains(.defaults) else {
            isUnsettable = false
            self.read = read
            return
        }
        isUnsettable = true
        self.read = { (decoder, draft) throws(JSONFault) in
            if try decoder.unsets() { return unset(&draft.rules) }
            try read(&decoder, &draft)
        }
    }

    /// Creates a key of downloads.
    package convenience init(download field: Field<JobSpec.Download>, _ places: Places = .defaults) {
        let unset = field.copy.map { copy -> Unset in
            { copy(&$0.download, JobDefaults().download) }
        }
        self.init(field.key, places, .downloads, field.about, [.download(field.output)], unset: unset) {
            (decoder, draft) throws(JSONFault) in
            try field.read(&decoder, &draft.rules.download)
        }
    }

    /// Creates a key of uploads.
    ///
    /// - Parameter isOfSome: Whether only the protocols whose entries list the key have it (``UploadEntry/keys``).
    package convenience init(
        upload field: Field<JobSpec.Upload>, isOfSome: Bool = false, _ places: Places = [.defaults, .watch]
    ) {
        let unset = field.copy.map { copy -> Unset in
            { copy(&$0.upload, JobDefaults().upload) }
        }
        self.init(
            field.key, places, isOfSome ? .someUploads : .uploads, field.about, [.upload(field.output)], unset: unset
        ) { (decoder, draft) throws(JSONFault) in
            try field.read(&decoder, &draft.rules.upload)
        }
    }

    /// Creates a key of all jobs.
    package convenience init(settings field: Field<JobSettings>, _ places: Places = [.defaults, .watch]) {
        let unset = field.copy.map { copy -> Unset in
            { rules in field.unset?(&rules.settings) ?? copy(&rules.settings, JobSettings()) }
        }
        self.init(field.key, places, .all, field.about, [.settings(field.output)], unset: unset) {
            (decoder, draft) throws(JSONFault) in
            try field.read(&decoder, &draft.rules.settings)
        }
    }

    /// Whether only some protocols of uploads have the key.
    package var isOfProtocols: Bool { jobs == .someUploads || jobs == .downloadsAndSomeUploads }

    package var isOfDownloadsOnly: Bool { jobs == .downloads }

    package var isOfUploadsOnly: Bool { jobs == .uploads || jobs == .someUploads }

    /// Whether a different value gives a different fingerprint.
    package var isPartOfFingerprint: Bool {
        parts.contains { part in
            switch part {
            case .name(let output), .turn(let output): output.hash != nil
            case .download(let output): output.hash != nil
            case .upload(let output): output.hash != nil
            case .settings(let output): output.hash != nil
            }
        }
    }

    /// Whether the value can hold secrets.
    package var isSecret: Bool {
        parts.contains { part in
            if case .settings(let output) = part { output.secrets != nil } else { false }
        }
    }
}

/// The keys that code refers to by name, because they interact with other keys; a test finds each in the table.
package enum JobKey: String, CaseIterable {
    case id, download, upload, to, checksum, checksums, segments, compressed, `protocol`, method, body, success
    case headers, proxy, noProxy, tls, ssh, remoteTime, destination
}
