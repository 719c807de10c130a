package import TransferCore
public import TransferWatch

/// A folder whose finished files are uploaded, and the rules for that: a plain value, as in a `"watch"` entry of a job
/// file.
public struct WatchSpec: Sendable, Hashable {
    /// The watched folder, absolute once the entry has been read.
    public var folder: String
    /// The URL of each file, with placeholders (`URLTemplate`).
    public var url: String
    /// The rules that select files, and that decide about sub-folders.
    public var rules = WatchRules()
    /// The time for which a file must be unchanged; 2 s by default, at least one millisecond.
    public var settle = Duration.seconds(2)
    /// The order in which the files are uploaded.
    public var order = WatchOrder.oldest
    /// The treatment of a file once its server has confirmed it.
    public var then = Then.keep
    /// The time from a file's confirmation to ``then``; `nil` for none.
    public var keepFor: Duration?
    /// Whether files that were in the folder when it was first watched are ignored.
    public var isNewOnly = false
    /// Whether an upload counts as confirmed only if the server reports the file's digest.
    public var verifiesDigest = false
    /// The upload of each file; its source and URL are filled in.
    public var upload = JobSpec.Upload(source: "", url: "")
    /// The priority of each file's job, −1,000,000 to 1,000,000.
    public var priority = 0
    /// The settings of each file's job.
    public var settings = JobSettings()
    /// The parts of the spec without the configuration; `nil` where the configuration does not change the jobs'
    /// identity.
    package var plain: Shared<Plain>?

    /// Creates a spec; `url` may have placeholders (`URLTemplate`).
    public init(folder: String, url: String) {
        self.folder = folder
        self.url = url
    }

    /// The parts of a spec that decide the jobs' identity.
    package struct Plain: Sendable, Hashable {
        package var upload: JobSpec.Upload
        package var settings: JobSettings

        package init(_ spec: WatchSpec) {
            upload = spec.upload
            settings = spec.settings
        }
    }

    /// The treatment of a confirmed file.
    public enum Then: Sendable, Hashable {
        case keep
        /// The file is moved to its relative path within another folder, whose path is absolute once the entry has been
        /// read.
        case move(to: String)
        case delete
    }
}
