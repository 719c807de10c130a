/// The conversion of dates of the proleptic Gregorian calendar to days since 1 January 1970.
///
/// The algorithms are Howard Hinnant's days_from_civil and its inverse, in eras of 400 years.
public enum CivilDate {
    /// Returns the day of a date.
    ///
    /// - Parameter month: The month, 1 to 12.
    public static func day(year: Int, month: Int, day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return Int64(era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }

    /// Returns the date of a day; months count from 1.
    public static func date(ofDay day: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(day) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthPart = (5 * dayOfYear + 2) / 153
        let month = monthPart < 10 ? monthPart + 3 : monthPart - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthPart + 2) / 5 + 1)
    }
}
