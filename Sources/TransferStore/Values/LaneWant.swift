package import TransferJobs

/// The number of jobs wanted of a lane.
package struct LaneWant: Sendable {
    package let lane: Lane
    package let limit: Int

    package init(lane: Lane, limit: Int) {
        self.lane = lane
        self.limit = limit
    }
}
