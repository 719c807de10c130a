import TransferCore
package import TransferJobs

extension LocalZone {
    /// Germany in 2026: the clocks change from 2:00 to 3:00 on 29 March, and from 3:00 to 2:00 on 25 October.
    package static let berlin = changing(
        3600, [(at("2026-03-29 01:00").seconds, 7200), (at("2026-10-25 01:00").seconds, 3600)])
    /// Chile in 2026: the clocks change from 0:00 to 1:00 on 6 September.
    package static let santiago = changing(-4 * 3600, [(at("2026-09-06 04:00").seconds, -3 * 3600)])
    /// Lord Howe Island in 2026: the clocks change back by half an hour on 5 April at 2:00.
    package static let lordHowe = changing(11 * 3600, [(at("2026-04-04 15:00").seconds, 37_800)])

    private static func changing(_ first: Int64, _ changes: [(from: Int64, offset: Int64)]) -> LocalZone {
        LocalZone { seconds in changes.last { $0.from <= seconds }?.offset ?? first }
    }
}

/// Parses `2026-03-29 02:30`. For a time that the clocks show twice the result is the first, or the second with a `+`
/// at its end.
package func at(_ text: String, _ zone: LocalZone = .utc) -> WallTime {
    let numbers = text.split { "-: +".contains($0) }.compactMap { Int($0) }
    let day = CivilDate.day(year: numbers[0], month: numbers[1], day: numbers[2])
    let seconds = day * 86_400 + Int64(numbers[3]) * 3600 + Int64(numbers[4]) * 60
    let moments = zone.moments(ofLocal: seconds)
    return WallTime(seconds: (text.hasSuffix("+") ? moments.last : moments.first) ?? .min / 2000)
}
