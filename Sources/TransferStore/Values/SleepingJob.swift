package import TransferCore
package import TransferJobs

package struct SleepingJob: Sendable {
    package let id: Int64
    package let lane: Lane
    package let due: MonotonicTime
    /// Whether a server asked for the wait. Then a change of the network does not end it.
    package let isAsked: Bool
    /// The file that the disk had no space for, where the job waits for that reason.
    package var disk: String?

    package init(id: Int64, lane: Lane, due: MonotonicTime, isAsked: Bool, disk: String? = nil) {
        self.id = id
        self.lane = lane
        self.due = due
        self.isAsked = isAsked
        self.disk = disk
    }
}
