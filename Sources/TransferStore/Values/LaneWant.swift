/// How many jobs are wanted of a lane.
struct LaneWant: Sendable {
    let lane: Lane
    let limit: Int
}
