import TransferCore

/// One key of a job in a job file: a row of ``JobFields``, from which the decoder, the canonical text, the fingerprint, the
/// schema and the manual page's table have all that they know of it.
final class JobField: Sendable {
    /// The values of a job that the key stands for, each with its place in the canonical text.
    enum Part: Sendable {
        /// First of all.
        case name(FieldOutput<JobSpec>)
        case download(FieldOutput<JobSpec.Download>)
        case upload(FieldOutput<JobSpec.Upload>)
        /// When its turn is: behind the work.
        case turn(FieldOutput<JobSpec>)
        case settings(FieldOutput<JobSettings>)
    }

    /// The objects that may have the key, besides a job.
    struct Places: OptionSet, Sendable {
        let rawValue: Int
        /// A batch's `defaults`.
        static let defaults = Places(rawValue: 1)
        /// An entry of `watch`.
        static let watch = Places(rawValue: 2)
    }

    /// The jobs that may have the key.
    enum Jobs: Sendable, Hashable {
        case all, downloads
        case uploads
        /// Uploads by those protocols whose entries name the key (``UploadEntry/keys``).
        case someUploads
        /// Downloads, and uploads by such protocols.
        case downloadsAndSomeUploads
    }

    typealias Read = @Sendable (inout JobDecoder, inout JobDraft) throws(JSONFault) -> Void

    let key: String
    let places: Places
    let jobs: Jobs
    let read: Read
    let parts: [Part]
    let about: FieldNote

    /// A key that is read in a way of its own.
    init(
        _ key: String, _ places: Places, _ jobs: Jobs, _ about: FieldNote, _ parts: [Part], read: @escaping Read
    ) {
        self.key = key
        self.places = places
        self.jobs = jobs
        self.about = about
        self.parts = parts
        self.read = read
    }

    /// A key of downloads.
    convenience init(download field: Field<JobSpec.Download>, _ places: Places = .defaults) {
        self.init(field.key, places, .downloads, field.about, [.download(field.output)]) {
            (decoder, draft) throws(JSONFault) in
            try field.read(&decoder, &draft.rules.download)
        }
    }

    /// A key of uploads.
    ///
    /// - Parameter isOfSome: Only those protocols have it whose entries name it (``UploadEntry/keys``).
    convenience init(
        upload field: Field<JobSpec.Upload>, isOfSome: Bool = false, _ places: Places = [.defaults, .watch]
    ) {
        self.init(field.key, places, isOfSome ? .someUploads : .uploads, field.about, [.upload(field.output)]) {
            (decoder, draft) throws(JSONFault) in
            try field.read(&decoder, &draft.rules.upload)
        }
    }

    /// A key of all jobs.
    convenience init(settings field: Field<JobSettings>, _ places: Places = [.defaults, .watch]) {
        self.init(field.key, places, .all, field.about, [.settings(field.output)]) {
            (decoder, draft) throws(JSONFault) in
            try field.read(&decoder, &draft.rules.settings)
        }
    }

    /// Whether only some protocols of uploads have the key.
    var isOfProtocols: Bool { jobs == .someUploads || jobs == .downloadsAndSomeUploads }

    var isOfDownloadsOnly: Bool { jobs == .downloads }

    var isOfUploadsOnly: Bool { jobs == .uploads || jobs == .someUploads }

    /// Whether another value makes another fingerprint.
    var isPartOfFingerprint: Bool {
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
    var isSecret: Bool {
        parts.contains { part in
            if case .settings(let output) = part { output.secrets != nil } else { false }
        }
    }
}

/// The keys that code speaks of by name, as they have to do with others; a test finds each in the table.
enum JobKey: String, CaseIterable {
    case id, download, upload, to, checksum, checksums, `protocol`, method, body, success
    case headers, proxy, noProxy, tls, ssh, remoteTime
}
