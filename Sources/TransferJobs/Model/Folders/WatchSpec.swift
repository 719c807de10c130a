package import TransferCore
public import TransferWatch

/// A folder whose files are uploaded as they are finished, and by which rules: a plain value, as a `"watch"` entry of a
/// job file describes it.
public struct WatchSpec: Sendable, Hashable {
    /// The watched folder; absolute once the entry was read.
    public var folder: String
    /// Where each file goes: a URL with placeholders (`URLTemplate`).
    public var url: String
    /// Which files are taken, and whether from sub-folders too.
    public var rules = WatchRules()
    /// How long a file has to be quiet; 2 s by default, at least a millisecond.
    public var settle = Duration.seconds(2)
    public var order = WatchOrder.oldest
    /// What becomes of a file once its server has confirmed it.
    public var then = Then.keep
    /// How long a confirmed file stays before ``then`` is done; `nil` is at once.
    public var keepFor: Duration?
    /// Leaves alone what was in the folder when it was watched for the first time.
    public var isNewOnly = false
    /// Asks the server for the digest of what it has, and takes an upload for confirmed only where it's the file's.
    public var verifiesDigest = false
    /// The upload of each file; its source and URL are filled in.
    public var upload = JobSpec.Upload(source: "", url: "")
    /// Of each file's job; −1,000,000 to 1,000,000.
    public var priority = 0
    public var settings = JobSettings()
    /// What a configuration makes of it left out; `nil` where that makes nothing else of the jobs.
    package var plain: Shared<Plain>?

    public init(folder: String, url: String) {
        self.folder = folder
        self.url = url
    }

    /// What counts for whether the jobs are other ones.
    package struct Plain: Sendable, Hashable {
        package var upload: JobSpec.Upload
        package var settings: JobSettings

        package init(_ spec: WatchSpec) {
            upload = spec.upload
            settings = spec.settings
        }
    }

    public enum Then: Sendable, Hashable {
        case keep
        /// Moved into a folder, by its path beneath the watched one; absolute once the entry was read.
        case move(to: String)
        case delete
    }
}
