//! Small statistics over samples of trials. Every function takes the samples in any order and gives nothing for none.

/// The middle sample, or the mean of the two middle ones.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The value at a share (0 to 1) of the way through the sorted samples, interpolated between the two nearest (Hyndman and
/// Fan's type 7, the default of R and `NumPy`).
pub fn quantile(samples: &[f64], share: f64) -> Option<f64> {
    let last = samples.len().checked_sub(1)?;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index"
    )]
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// Smallest and largest sample.
pub fn range(samples: &[f64]) -> Option<(f64, f64)> {
    let smallest = samples.iter().copied().min_by(f64::total_cmp)?;
    let largest = samples.iter().copied().max_by(f64::total_cmp)?;
    Some((smallest, largest))
}

/// A fitted growth `y = coefficient * x^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// Slope on log-log axes: 1 is linear growth.
    pub exponent: f64,
    /// Value at `x = 1`.
    pub coefficient: f64,
    /// Share of the variance of `ln y` that the fit explains, 0 to 1; 1 if `y` does not vary.
    pub r_squared: f64,
}

/// Fits a power law to `(x, y)` points by least squares on their logarithms. Nothing if a coordinate is not a positive finite
/// number, or if there are not two different `x`.
pub fn fit_power_law(points: &[(f64, f64)]) -> Option<PowerLaw> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if points.is_empty() || !points.iter().all(|&(x, y)| usable(x) && usable(y)) {
        return None;
    }
    let logarithms: Vec<_> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let count = points.len() as f64;
    let mean_x = logarithms.iter().map(|&(x, _)| x).sum::<f64>() / count;
    let mean_y = logarithms.iter().map(|&(_, y)| y).sum::<f64>() / count;
    let sum_of = |product: fn(f64, f64) -> f64| -> f64 {
        let centred = logarithms.iter().map(|&(x, y)| (x - mean_x, y - mean_y));
        centred.map(|(x, y)| product(x, y)).sum()
    };
    let (xx, xy, yy) = (
        sum_of(|x, _| x * x),
        sum_of(|x, y| x * y),
        sum_of(|_, y| y * y),
    );
    if xx <= 1e-12 {
        return None;
    }
    let exponent = xy / xx;
    Some(PowerLaw {
        exponent,
        coefficient: (mean_y - exponent * mean_x).exp(),
        r_squared: if yy <= 1e-12 {
            1.0
        } else {
            xy * xy / (xx * yy)
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_sorted_samples() {
        let samples = [40.0, 10.0, 30.0, 20.0];
        assert_eq!(median(&samples), Some(25.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(quantile(&samples, 0.0), Some(10.0));
        assert_eq!(quantile(&samples, 1.0), Some(40.0));
        assert_eq!(quantile(&samples, 0.9), Some(37.0));
        assert_eq!(range(&samples), Some((10.0, 40.0)));
    }

    #[test]
    fn no_samples_give_no_statistics() {
        assert_eq!(median(&[]), None);
        assert_eq!(range(&[]), None);
        assert_eq!(fit_power_law(&[]), None);
    }

    #[test]
    fn a_power_law_is_found_again() {
        let points = [1e3, 1e4, 1e5, 1e6].map(|x: f64| (x, 7.0 * x.powf(1.25)));
        let fit = fit_power_law(&points).unwrap();
        assert!((fit.exponent - 1.25).abs() < 1e-9);
        assert!((fit.coefficient - 7.0).abs() < 1e-6);
        assert!((fit.r_squared - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_noisy_fit_is_the_least_squares_one() {
        // ln y over ln x is (0,0), (1,2), (2,1): slope 1/2, intercept 1/2, r^2 = 1/4.
        let points =
            [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)].map(|(x, y): (f64, f64)| (x.exp(), y.exp()));
        let fit = fit_power_law(&points).unwrap();
        assert!((fit.exponent - 0.5).abs() < 1e-9);
        assert!((fit.coefficient.ln() - 0.5).abs() < 1e-9);
        assert!((fit.r_squared - 0.25).abs() < 1e-9);
    }

    #[test]
    fn points_without_two_places_or_with_a_zero_have_no_fit() {
        assert_eq!(fit_power_law(&[(5.0, 1.0), (5.0, 2.0)]), None);
        assert_eq!(fit_power_law(&[(1.0, 0.0), (5.0, 2.0)]), None);
    }
}
