/// How jobs are taken into a batch.
struct StagingOptions: Sendable, Hashable {
    /// Jobs that aren't added stay; else they are dropped from the batch.
    var keepsWhatIsMissing = false
    /// The batch's run goes on: unchanged jobs stay as they are.
    var isReload = false
    /// So many of the first jobs of a new batch may be claimed at once: whoever puts them in runs them too.
    var claiming = 0
}
