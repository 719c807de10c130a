package import TransferCore
package import TransferJobs

package struct SleepingJob: Sendable {
    package let id: Int64
    package let lane: Lane
    package let due: MonotonicTime
    /// Whether a server asked for the wait: then another network is no reason to end it.
    package let isAsked: Bool
    /// The file that the disk had no space for, where that is why the job waits.
    package var disk: String?

    package init(id: Int64, lane: Lane, due: MonotonicTime, isAsked: Bool, disk: String? = nil) {
        self.id = id
        self.lane = lane
        self.due = due
        self.isAsked = isAsked
        self.disk = disk
    }
}
