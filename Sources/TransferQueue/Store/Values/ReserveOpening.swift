/// Jobs of a lane's reserve, up to one of them.
struct ReserveOpening: Sendable {
    let lane: Lane
    let last: Int64
}
